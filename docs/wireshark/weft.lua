-- Wireshark dissector for weft: raw Ethernet (PROTOCOL §6), the link (§2) and
-- every frame (§3 to §5, §9, §10).
--
--   wireshark -X lua_script:weft.lua FILE
--
-- For another EtherType, or for the UDP port of a rank, use "Decode As".

local eth = Proto("weft_eth", "weft on raw Ethernet")
local weft = Proto("weft", "weft")

local kinds = { [1] = "DATA", [2] = "ACK", [3] = "LOSE", [4] = "STOP", [5] = "GO", [6] = "PROBE", [7] = "SELECT", [8] = "PART", [9] = "GREET" }
local statuses = {
  [0] = "OK", [1] = "no such region", [2] = "wrong key", [3] = "out of bounds", [4] = "misaligned",
  [5] = "read only", [6] = "closed", [7] = "too long", [8] = "cancelled", [9] = "fenced", [10] = "no ring", [11] = "shared ring", [12] = "forbidden",
}
-- What an EVENT tells (PROTOCOL §9).
local events = {
  "lock_req", "lock_try", "lock_return", "lock_busy", "lock_state", "lock_lost", "permit_req", "permit_try", "permit_rel", "permit_cancel",
  "cond_wait", "cond_set", "cond_cancel", "region_sync", "region_broken", "bind", "fenced",
  "refuse", "lock_forw", "lock_reply", "lock_deny", "lock_tryfor", "lock_probe", "permit_grant", "permit_deny", "cond_ack", "cond_wake",
  "cond_count", "region_go", "bound", "fence", "hello", "token", "left", "ping", "pong", "closed",
}
-- For what an IPUSH has records (PROTOCOL §10).
local modes = { [0] = "auto", [1] = "message", [2] = "packets" }
local operations = {
  [0] = "replace", [1] = "add", [2] = "compare and swap", [3] = "multiply", [4] = "and", [5] = "or", [6] = "xor", [7] = "min", [8] = "max",
  [9] = "min unsigned", [10] = "max unsigned", [11] = "add float", [12] = "multiply float", [13] = "min float", [14] = "max float",
}

-- The frames: name, length of the head, fields. A field is its name, where it
-- begins and how many bytes it has; "flag" and a name stand for bit 0 of byte 1, "second" for bit 1,
-- and "code" for the byte of the operation; "event" for bytes 2 and 3, and "mode" for byte 14.
local frames = {
  [0x01] = { "BYE", 4, flag = "failed" },
  [0x02] = { "DONE", 4, flag = "more" },
  [0x03] = { "BEAT", 4, flag = "ask" },
  [0x10] = { "DATA", 20, flag = "ack_req", { "channel", 2, 2 }, { "seq", 4, 4 }, { "ack", 8, 4 }, { "total", 12, 4 }, { "off", 16, 4 } },
  [0x11] = { "ACK", 12, flag = "far", second = "barred", { "channel", 2, 2 }, { "ack", 4, 4 }, { "room", 8, 4 } },
  [0x12] = { "NACK", 8, flag = "will_go", { "channel", 2, 2 }, { "seq", 4, 4 } },
  [0x13] = { "GO", 8, { "channel", 2, 2 }, { "seq", 4, 4 } },
  [0x14] = { "RTS", 40, flag = "ack_req", { "channel", 2, 2 }, { "seq", 4, 4 }, { "ack", 8, 4 }, { "token", 12, 4 },
    { "total", 16, 8 }, { "mem", 24, 4 }, { "addr", 32, 8 } },
  [0x15] = { "FETCH", 24, { "token", 4, 4 }, { "off", 8, 8 }, { "n", 16, 8 } },
  [0x16] = { "PIECE", 16, flag = "end_of", { "token", 4, 4 }, { "off", 8, 8 } },
  [0x17] = { "FETCHED", 8, { "status", 2, 2 }, { "token", 4, 4 } },
  [0x18] = { "ACKREQ", 8, { "channel", 2, 2 }, { "ack", 4, 4 } },
  [0x19] = { "SETTLED", 8, { "status", 2, 2 }, { "token", 4, 4 } },
  [0x1a] = { "REVOKE", 12, { "channel", 2, 2 }, { "by", 4, 4 }, { "gone", 8, 4 } },
  [0x1b] = { "FENCE", 12, { "channel", 2, 2 }, { "number", 4, 4 }, { "seq", 8, 4 } },
  [0x1c] = { "FENCEACK", 16, { "channel", 2, 2 }, { "number", 4, 4 }, { "ack", 8, 4 }, { "room", 12, 4 } },
  [0x20] = { "ATTACH", 8, { "op", 4, 4 } },
  [0x21] = { "ATTACHED", 32, flag = "read_only", { "status", 2, 2 }, { "op", 4, 4 }, { "region", 8, 4 }, { "mem", 12, 4 },
    { "key", 16, 8 }, { "size", 24, 8 } },
  [0x22] = { "PUSH", 40, flag = "end_of", code = 2, { "op", 4, 4 }, { "region", 8, 4 }, { "key", 16, 8 }, { "off", 24, 8 }, { "until", 32, 8 } },
  [0x23] = { "PUT", 24, code = 1, { "region", 4, 4 }, { "key", 8, 8 }, { "off", 16, 8 } },
  [0x24] = { "FLUSH", 8, { "op", 4, 4 } },
  [0x25] = { "PULL", 40, { "op", 4, 4 }, { "region", 8, 4 }, { "key", 16, 8 }, { "off", 24, 8 }, { "n", 32, 8 } },
  [0x26] = { "PULLED", 16, flag = "end_of", { "op", 4, 4 }, { "off", 8, 8 } },
  [0x27] = { "ATOMIC", 48, code = 1, { "op", 4, 4 }, { "region", 8, 4 }, { "key", 16, 8 }, { "off", 24, 8 }, { "a", 32, 8 }, { "b", 40, 8 } },
  [0x29] = { "GUARD", 24, { "lock", 8, 8 }, { "epoch", 16, 8 } },
  [0x2a] = { "IPUSH", 48, flag = "end_of", mode = true, { "round", 2, 2 }, { "op", 4, 4 }, { "region", 8, 4 }, { "entry", 12, 2 }, { "key", 16, 8 },
    { "off", 24, 8 }, { "total", 32, 8 }, { "msg_tag", 40, 8 } },
  [0x2b] = { "ISTOP", 24, { "round", 2, 2 }, { "op", 4, 4 }, { "region", 8, 4 }, { "off", 16, 8 } },
  [0x2c] = { "IGO", 8, { "round", 2, 2 }, { "region", 4, 4 } },
  [0x2d] = { "KNOCK", 8, { "region", 4, 4 } },
  [0x30] = { "EVENT", 40, flag = "flag", event = true, { "rank", 4, 4 }, { "id", 8, 8 }, { "phase", 16, 8 }, { "arg", 24, 8 }, { "aux", 32, 8 } },
  [0x28] = { "RESULT", 16, { "status", 2, 2 }, { "op", 4, 4 }, { "value", 8, 8 } },
}

local f = {
  job = ProtoField.uint64("weft_eth.job", "Job", base.HEX),
  rank = ProtoField.uint32("weft_eth.rank", "Rank of the receiver"),
  length = ProtoField.uint16("weft_eth.length", "Length of the packet"),
}
eth.fields = { f.job, f.rank, f.length }

local l = {
  version = ProtoField.uint8("weft.version", "Version"),
  kind = ProtoField.uint8("weft.kind", "Kind", base.DEC, kinds),
  src = ProtoField.uint32("weft.src", "From rank"),
  job = ProtoField.uint64("weft.job", "Job", base.HEX),
  dst = ProtoField.uint32("weft.dst", "To rank"),
  incarnation = ProtoField.uint64("weft.incarnation", "Incarnation", base.HEX),
  number = ProtoField.uint32("weft.number", "Number of the packet"),
  expects = ProtoField.uint32("weft.expects", "Expects (acknowledges all before)"),
  checksum = ProtoField.bool("weft.checksum", "Checksum, no tag", 32, nil, 1),
  selective = ProtoField.bool("weft.selective", "Knows SELECT", 32, nil, 2),
  encrypted = ProtoField.bool("weft.encrypted", "Encrypted", 32, nil, 4),
  sealed = ProtoField.bytes("weft.sealed", "Encrypted data"),
  counter = ProtoField.uint64("weft.counter", "Counter"),
  tag = ProtoField.bytes("weft.tag", "Tag"),
  runs = ProtoField.bytes("weft.runs", "Missing, kept, missing, …"),
  type = ProtoField.uint8("weft.type", "Type", base.HEX),
  name = ProtoField.string("weft.frame", "Frame"),
  payload = ProtoField.bytes("weft.payload", "Payload"),
  code = ProtoField.uint8("weft.code", "Operation", base.DEC, operations),
  event = ProtoField.uint8("weft.event", "Event", base.DEC, events),
  slot = ProtoField.uint8("weft.slot", "slot"),
  mode = ProtoField.uint8("weft.mode", "Records for", base.DEC, modes),
  status = ProtoField.uint16("weft.status", "Status", base.DEC, statuses),
}
local flags, numbers = {}, {}
for _, frame in pairs(frames) do
  if frame.flag and not flags[frame.flag] then
    flags[frame.flag] = ProtoField.bool("weft." .. frame.flag, frame.flag, 8, nil, 1)
  end
  if frame.second then flags[frame.second] = ProtoField.bool("weft." .. frame.second, frame.second, 8, nil, 2) end
  for i = 3, #frame do
    local name, size = frame[i][1], frame[i][3]
    if name ~= "status" and not numbers[name .. size] then
      local make = size == 2 and ProtoField.uint16 or size == 4 and ProtoField.uint32 or ProtoField.uint64
      numbers[name .. size] = make("weft." .. name, name, (name == "key" or name == "addr" or name == "lock" or name == "id") and base.HEX or base.DEC)
    end
  end
end
local all = {}
for _, set in ipairs({ l, flags, numbers }) do
  for _, field in pairs(set) do table.insert(all, field) end
end
weft.fields = all

local malformed = ProtoExpert.new("weft.malformed", "Malformed", expert.group.MALFORMED, expert.severity.ERROR)
weft.experts = { malformed }

-- frame shows one frame, and returns what it is in a few words.
local function frame(buf, tree)
  local type = buf(0, 1):uint()
  local spec = frames[type]
  if not spec or buf:len() < spec[2] then
    tree:add_proto_expert_info(malformed)
    return "malformed"
  end
  tree:add(l.type, buf(0, 1))
  tree:add(l.name, buf(0, 1), spec[1])
  if spec.flag then tree:add(flags[spec.flag], buf(1, 1)) end
  if spec.second and buf(1, 1):uint() > 1 then tree:add(flags[spec.second], buf(1, 1)) end
  if spec.code then tree:add(l.code, buf(spec.code, 1)) end
  if spec.event then
    tree:add(l.event, buf(2, 1))
    tree:add(l.slot, buf(3, 1))
  end
  if spec.mode then tree:add(l.mode, buf(14, 1)) end
  for i = 3, #spec do
    local name, at, size = spec[i][1], spec[i][2], spec[i][3]
    tree:add_le(name == "status" and l.status or numbers[name .. size], buf(at, size))
  end
  local rest = buf:len() - spec[2]
  if rest > 0 then tree:add(l.payload, buf(spec[2], rest)) end
  if spec.event then return spec[1] .. " " .. (events[buf(2, 1):uint()] or "?") end
  return spec[1] .. (rest > 0 and " of " .. rest .. " bytes" or "")
end

function weft.dissector(buf, info, tree)
  if buf:len() < 64 or buf(0, 2):le_uint() ~= 0x4657 then return 0 end
  info.cols.protocol = "weft"
  local top = tree:add(weft, buf())
  local kind = buf(3, 1):uint()
  top:add(l.version, buf(2, 1))
  top:add(l.kind, buf(3, 1))
  top:add_le(l.src, buf(4, 4))
  top:add_le(l.job, buf(8, 8))
  top:add_le(l.dst, buf(16, 4))
  top:add_le(l.checksum, buf(20, 4))
  top:add_le(l.selective, buf(20, 4))
  top:add_le(l.encrypted, buf(20, 4))
  top:add_le(l.number, buf(24, 4))
  top:add_le(l.expects, buf(28, 4))
  top:add_le(l.incarnation, buf(32, 8))
  top:add_le(l.counter, buf(40, 8))
  local what, encrypted = kinds[kind] or "?", math.floor(buf(20, 4):le_uint() / 4) % 2 == 1
  local rest = buf:len() - 64
  if encrypted then
    if rest > 0 then top:add(l.sealed, buf(48, rest)) end
    top:add(l.tag, buf(48 + rest, 16))
    if kind == 1 then what = rest .. " encrypted bytes, packet " .. buf(24, 4):le_uint() end
  else
    top:add(l.tag, buf(48, 16))
  end
  if encrypted then -- its frame cannot be shown
  elseif kind == 1 and buf:len() > 64 then
    what = frame(buf(64):tvb(), top) .. ", packet " .. buf(24, 4):le_uint()
  elseif kind == 7 and buf:len() > 64 then
    top:add(l.runs, buf(64))
  elseif kind == 8 and buf:len() >= 72 then
    what = "PART, packet " .. buf(24, 4):le_uint() .. ", from byte " .. buf(66, 2):le_uint() .. " of " .. buf(68, 2):le_uint()
  elseif kind == 6 and buf:len() > 64 then
    what = "PROBE of " .. buf:len() .. " bytes"
  elseif kind == 2 and buf(24, 4):le_uint() > 0 then
    what = "ACK of a PROBE of " .. buf(24, 4):le_uint() .. " bytes"
  end
  what = buf(4, 4):le_uint() .. " to " .. buf(16, 4):le_uint() .. ": " .. what .. ", expects " .. buf(28, 4):le_uint()
  info.cols.info = what
  top:append_text(", " .. what)
  return buf:len()
end

function eth.dissector(buf, info, tree)
  if buf:len() < 16 then return 0 end
  local n = buf(12, 2):uint()
  local top = tree:add(eth, buf(0, 16))
  top:add(f.job, buf(0, 8))
  top:add(f.rank, buf(8, 4))
  top:add(f.length, buf(12, 2))
  if n > buf:len() - 16 then
    top:add_proto_expert_info(malformed)
    return buf:len()
  end
  weft.dissector(buf(16, n):tvb(), info, tree)
  return buf:len()
end

DissectorTable.get("ethertype"):add(0x88b5, eth)
DissectorTable.get("udp.port"):add_for_decode_as(weft)
