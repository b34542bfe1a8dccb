package weft

// JoinAll is joinAll, for the tests of packages that need ranks over real transports.
var JoinAll = joinAll

// RaceEnabled is raceEnabled.
const RaceEnabled = raceEnabled
