// Package hwmodel models the hardware of the papers that weft builds on, part by part, and compares the results
// with what the papers measured: PM/Ethernet [Sumimoto00], DIMMnet-2 [Kitamura06], the four libraries on Myrinet
// [Konishi97], and the links of the ETL controller [Hayakawa98]. The keys are those of docs/REFERENCES.md.
//
// A message passes the parts of its path as events in virtual time, each part once. Every part names the source of
// its value. The only totals here are measured ones, and the model is only compared with them: nothing is fitted.
//
// `weftlab sim paper` prints the tables. Tested in hwmodel_test.go and lanai_test.go beside the code.
package hwmodel
