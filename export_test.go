package weft

// JoinAll is joinAll, for the tests of packages that need ranks over real transports.
var JoinAll = joinAll

// Everywhere is everywhere, for tests of package extend, which a test in this package cannot import.
var Everywhere = everywhere

// RaceEnabled is raceEnabled.
const RaceEnabled = raceEnabled
