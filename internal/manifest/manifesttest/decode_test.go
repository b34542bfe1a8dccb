package manifesttest

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/validate/content"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"weft/internal/manifest"
)

// A jobSet is what we use of jobset.x-k8s.io/v1alpha2, field by field as its
// definition has it; the Job within is Kubernetes' own type.
type jobSet struct {
	metav1.TypeMeta `json:",inline"`
	Metadata        metav1.ObjectMeta `json:"metadata"`
	Spec            struct {
		Network struct {
			EnableDNSHostnames       *bool  `json:"enableDNSHostnames"`
			Subdomain                string `json:"subdomain"`
			PublishNotReadyAddresses *bool  `json:"publishNotReadyAddresses"`
		} `json:"network"`
		FailurePolicy struct {
			MaxRestarts int32 `json:"maxRestarts"`
		} `json:"failurePolicy"`
		ReplicatedJobs []struct {
			Name     string                  `json:"name"`
			Replicas int32                   `json:"replicas"`
			Template batchv1.JobTemplateSpec `json:"template"`
		} `json:"replicatedJobs"`
	} `json:"spec"`
}

// decoded is what a file of manifests holds.
type decoded struct {
	secret  corev1.Secret
	service *corev1.Service
	job     *batchv1.Job
	set     *jobSet
}

// spec returns the specification of the one Job.
func (d *decoded) spec() *batchv1.JobSpec {
	if d.job != nil {
		return &d.job.Spec
	}
	return &d.set.Spec.ReplicatedJobs[0].Template.Spec
}

func (d *decoded) pod() *corev1.PodSpec { return &d.spec().Template.Spec }

// plain is the least that a job says.
func plain() manifest.Job {
	return manifest.Job{
		Name: "is", Image: "registry.example/is:1", Program: "/program", N: 8, PerPod: 1, Port: 61060, Shm: "64Mi",
		Secret: bytes.Repeat([]byte{0xa5}, 32),
	}
}

// write returns the manifests of a job, decoded: a field that the types do not have, or have twice, is an error.
func write(t *testing.T, j manifest.Job) *decoded {
	t.Helper()
	var b bytes.Buffer
	if err := manifest.Write(&b, &j); err != nil {
		t.Fatal(err)
	}
	d := &decoded{}
	for i, text := range strings.Split(b.String(), "\n---\n") {
		var kind metav1.TypeMeta
		if err := yaml.Unmarshal([]byte(text), &kind); err != nil {
			t.Fatalf("document %d: %v\n%s", i, err, text)
		}
		var into any
		switch kind.APIVersion + " " + kind.Kind {
		case "v1 Secret":
			into = &d.secret
		case "v1 Service":
			d.service = &corev1.Service{}
			into = d.service
		case "batch/v1 Job":
			d.job = &batchv1.Job{}
			into = d.job
		case "jobset.x-k8s.io/v1alpha2 JobSet":
			d.set = &jobSet{}
			into = d.set
		default:
			t.Fatalf("document %d is a %s of %s", i, kind.Kind, kind.APIVersion)
		}
		if err := yaml.UnmarshalStrict([]byte(text), into); err != nil {
			t.Fatalf("document %d: %v\n%s", i, err, text)
		}
	}
	return d
}

// value returns a variable of a container.
func value(t *testing.T, c corev1.Container, name string) string {
	t.Helper()
	for _, e := range c.Env {
		if e.Name == name && e.ValueFrom != nil {
			return "field " + e.ValueFrom.FieldRef.FieldPath
		}
		if e.Name == name {
			return e.Value
		}
	}
	return ""
}

// equal compares what is found by name.
func equal[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func TestIndexedJob(t *testing.T) {
	j := plain()
	j.Namespace = "hpc"
	j.CPU = "2"
	j.Memory = "4Gi"
	j.Timeout = time.Hour
	d := write(t, j)
	spec := d.spec()
	pod := d.pod()
	equal(t, "completionMode", *spec.CompletionMode, batchv1.IndexedCompletion)
	equal(t, "completions", *spec.Completions, 8)
	equal(t, "parallelism", *spec.Parallelism, 8)
	equal(t, "backoffLimit", *spec.BackoffLimit, 0)
	equal(t, "activeDeadlineSeconds", *spec.ActiveDeadlineSeconds, 3600)
	equal(t, "restartPolicy", pod.RestartPolicy, corev1.RestartPolicyNever)
	equal(t, "the service's clusterIP", d.service.Spec.ClusterIP, corev1.ClusterIPNone)
	equal(t, "publishNotReadyAddresses", d.service.Spec.PublishNotReadyAddresses, true)
	equal(t, "the pods' subdomain", pod.Subdomain, d.service.Name)
	for key, want := range d.service.Spec.Selector {
		equal(t, "the label "+key+" that the service selects", spec.Template.Labels[key], want)
	}
	for _, namespace := range []string{d.secret.Namespace, d.service.Namespace, d.job.Namespace} {
		equal(t, "a namespace", namespace, "hpc")
	}
	c := pod.Containers[0]
	equal(t, "the limit of memory", c.Resources.Limits.Memory().String(), "4Gi")
	equal(t, "the request of processors", c.Resources.Requests.Cpu().String(), "2")
	equal(t, "WEFT_RENDEZVOUS", value(t, c, "WEFT_RENDEZVOUS"),
		fmt.Sprintf("%s-0.%s:%d", d.job.Name, d.service.Name, c.Ports[0].ContainerPort))
	equal(t, "WEFT_SIZE", value(t, c, "WEFT_SIZE"), "8")
	equal(t, "WEFT_BIND", value(t, c, "WEFT_BIND"), "field status.podIP")
}

func TestSecretIsMounted(t *testing.T) {
	d := write(t, plain())
	pod := d.pod()
	c := pod.Containers[0]
	equal(t, "whether the secret is immutable", *d.secret.Immutable, true)
	for _, m := range c.VolumeMounts {
		i := slices.IndexFunc(pod.Volumes, func(v corev1.Volume) bool { return v.Name == m.Name })
		if i < 0 {
			t.Fatalf("%s is mounted, and there is no such volume", m.Name)
		}
		s := pod.Volumes[i].Secret
		if s == nil {
			continue
		}
		equal(t, "the secret that is mounted", s.SecretName, d.secret.Name)
		equal(t, "its mode", *s.DefaultMode, 0o440)
		key := strings.TrimPrefix(value(t, c, "WEFT_SECRET_FILE"), m.MountPath+"/")
		equal(t, "the secret in the file", d.secret.StringData[key], hex.EncodeToString(plain().Secret))
		return
	}
	t.Error("the secret is not mounted")
}

func TestSharedMemory(t *testing.T) {
	j := plain()
	j.Shm = "1Gi"
	for _, v := range write(t, j).pod().Volumes {
		if v.EmptyDir != nil && v.EmptyDir.Medium == corev1.StorageMediumMemory {
			equal(t, "the size of /dev/shm", v.EmptyDir.SizeLimit.String(), "1Gi")
			return
		}
	}
	t.Error("no emptyDir in memory")
}

// What the Restricted level of Kubernetes' Pod Security Standards asks for.
func TestRestricted(t *testing.T) {
	pod := write(t, plain()).pod()
	equal(t, "runAsNonRoot", *pod.SecurityContext.RunAsNonRoot, true)
	equal(t, "seccompProfile", pod.SecurityContext.SeccompProfile.Type, corev1.SeccompProfileTypeRuntimeDefault)
	equal(t, "automountServiceAccountToken", *pod.AutomountServiceAccountToken, false)
	s := pod.Containers[0].SecurityContext
	equal(t, "allowPrivilegeEscalation", *s.AllowPrivilegeEscalation, false)
	equal(t, "readOnlyRootFilesystem", *s.ReadOnlyRootFilesystem, true)
	equal(t, "what is dropped", fmt.Sprint(s.Capabilities.Drop), "[ALL]")
	equal(t, "what is added", len(s.Capabilities.Add), 0)
	if *pod.SecurityContext.RunAsUser == 0 {
		t.Error("it runs as root")
	}
}

func TestRaw(t *testing.T) {
	j := plain()
	j.Raw = "net1"
	pod := write(t, j).pod()
	equal(t, "what is added", fmt.Sprint(pod.Containers[0].SecurityContext.Capabilities.Add), "[NET_RAW]")
	equal(t, "what is dropped", fmt.Sprint(pod.Containers[0].SecurityContext.Capabilities.Drop), "[ALL]")
	equal(t, "runAsUser", *pod.SecurityContext.RunAsUser, 0)
	equal(t, "WEFT_INTERFACE", value(t, pod.Containers[0], "WEFT_INTERFACE"), "net1")
}

func TestJobSet(t *testing.T) {
	j := plain()
	j.JobSet = true
	j.Restarts = 3
	d := write(t, j)
	if d.service != nil || d.job != nil {
		t.Error("a JobSet makes service and Job itself")
	}
	r := d.set.Spec.ReplicatedJobs[0]
	equal(t, "maxRestarts", d.set.Spec.FailurePolicy.MaxRestarts, 3)
	equal(t, "enableDNSHostnames", *d.set.Spec.Network.EnableDNSHostnames, true)
	equal(t, "publishNotReadyAddresses", *d.set.Spec.Network.PublishNotReadyAddresses, true)
	equal(t, "completionMode", *d.spec().CompletionMode, batchv1.IndexedCompletion)
	c := d.pod().Containers[0]
	want := fmt.Sprintf("%s-%s-0-0.%s:61060", d.set.Metadata.Name, r.Name, d.set.Spec.Network.Subdomain)
	equal(t, "WEFT_RENDEZVOUS", value(t, c, "WEFT_RENDEZVOUS"), want)
	equal(t, "WEFT_RESTART", value(t, c, "WEFT_RESTART"),
		"field metadata.annotations['jobset.sigs.k8s.io/restart-attempt']")
}

func TestSeveralRanksInAPod(t *testing.T) {
	j := plain()
	j.PerPod = 4
	d := write(t, j)
	equal(t, "completions", *d.spec().Completions, 2)
	equal(t, "shareProcessNamespace", *d.pod().ShareProcessNamespace, true)
	equal(t, "containers", len(d.pod().Containers), 4)
	names := map[string]bool{}
	for i, c := range d.pod().Containers {
		equal(t, "WEFT_LOCAL_RANK", value(t, c, "WEFT_LOCAL_RANK"), fmt.Sprint(i))
		equal(t, "WEFT_LOCAL_SIZE", value(t, c, "WEFT_LOCAL_SIZE"), "4")
		equal(t, "WEFT_SIZE", value(t, c, "WEFT_SIZE"), "8")
		names[c.Name] = true
	}
	equal(t, "names of containers", len(names), 4)
}

// Text of every kind reaches the program as it was given: no YAML and no expansion changes it.
func TestTextIsKept(t *testing.T) {
	texts := []string{
		"", " ", "yes", "null", "~", "1e3", "0440", "a: b", "- a", "# no comment", "{a}", "[a]", "'", `"`, `\`, "a\nb",
		"a\tb", "\r", "\x7f",
		"$", "$$", "$(WEFT_SIZE)", "$$(WEFT_SIZE)", "é", "😀", "\u2028", "\ufeff", "---", "{{.Secret}}", "%", "&a", "*a", "!a",
		"|", ">", "@", "`",
	}
	j := plain()
	j.Program = "/a program: $(X)"
	j.Args = texts
	j.Env = nil
	for i, text := range texts {
		j.Env = append(j.Env, fmt.Sprintf("V%d=%s", i, text))
	}
	c := write(t, j).pod().Containers[0]
	equal(t, "the program", expand(c.Command[0]), j.Program)
	for i, text := range texts {
		equal(t, "an argument", expand(c.Args[i]), text)
		equal(t, "a value", expand(value(t, c, fmt.Sprintf("V%d", i))), text)
	}
}

// expand does what the kubelet does to arguments and values: $$ is $, and $(NAME) what the variable NAME holds.
func expand(text string) string {
	var b strings.Builder
	for i := 0; i < len(text); i++ {
		switch rest := text[i+1:]; {
		case text[i] != '$':
			b.WriteByte(text[i])
		case strings.HasPrefix(rest, "$"):
			b.WriteByte('$')
			i++
		case strings.HasPrefix(rest, "("):
			b.WriteString("EXPANDED")
		default:
			b.WriteByte('$')
		}
	}
	return b.String()
}

// Every name that package manifest accepts, Kubernetes accepts: of the job, of its pods, and in labels.
func TestNames(t *testing.T) {
	for _, name := range []string{"a", "a-b", "a0", strings.Repeat("a", 52), strings.Repeat("a", 56)} {
		for _, set := range []bool{false, true} {
			j := plain()
			j.Name = name
			j.JobSet = set
			var b bytes.Buffer
			if manifest.Write(&b, &j) != nil {
				continue // too long for a JobSet
			}
			host, _, _ := strings.Cut(j.Rendezvous(), ".")
			last := strings.TrimSuffix(host, "0") + fmt.Sprint(j.Pods()-1)
			for _, errs := range [][]string{
				content.IsDNS1123Label(last), content.IsDNS1123Label(name), content.IsDNS1123Subdomain(name + "-secret"),
				content.IsLabelValue(name),
			} {
				if len(errs) > 0 {
					t.Errorf("%s, JobSet %v: %v", name, set, errs)
				}
			}
		}
	}
}
