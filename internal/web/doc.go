// Package web serves the page that shows a job: what its ranks have sent to whom, and what
// they wait for. The page is one file of HTML, style and script in the binary, and needs no
// network but the connection to its server.
package web
