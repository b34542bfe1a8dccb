// Package hwmodel models hardware of the papers that weft goes back to, part by
// part, and sets what comes of it beside what they measured.
//
// A message walks through the parts of its way as events in virtual time, each
// part once. Every part says where its value comes from. No total is written
// down but those that were measured, and they are only compared with: nothing is
// fitted to them.
package hwmodel
