// Package web serves the page that shows a job: what each rank has sent to each other one, and what
// the ranks wait for. The page is one file of HTML, style and script in the binary, and needs no
// network but the connection to its server.
package web
