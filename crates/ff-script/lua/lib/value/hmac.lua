--- HMAC-SHA256 as hexadecimal text, for callers that send no token. Other programs sign tokens themselves, which keeps the server free.

local K = {
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
  0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
  0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
  0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
  0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
  0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
  0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
  0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
}

local START = {
  0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19,
}

--- Returns the message schedule of the 64-byte block at a position.
local function schedule(bytes, at)
  local bxor, ror, rshift, tobit = bit.bxor, bit.ror, bit.rshift, bit.tobit
  local words = {}
  for nth = 1, 16 do
    local a, b, c, d = bytes:byte(at + 4 * nth - 4, at + 4 * nth - 1)
    words[nth] = ((a * 256 + b) * 256 + c) * 256 + d
  end
  for nth = 17, 64 do
    local early, late = words[nth - 15], words[nth - 2]
    local sum = words[nth - 16] + bxor(ror(early, 7), ror(early, 18), rshift(early, 3)) + words[nth - 7]
    words[nth] = tobit(sum + bxor(ror(late, 17), ror(late, 19), rshift(late, 10)))
  end
  return words
end

local function compress(state, words)
  local band, bxor, bnot, ror, tobit = bit.band, bit.bxor, bit.bnot, bit.ror, bit.tobit
  local a, b, c, d, e, f, g, h = unpack(state)
  for nth = 1, 64 do
    local choice = bxor(band(e, f), band(bnot(e), g))
    local one = tobit(h + bxor(ror(e, 6), ror(e, 11), ror(e, 25)) + choice + K[nth] + words[nth])
    local majority = bxor(band(a, b), band(a, c), band(b, c))
    local two = bxor(ror(a, 2), ror(a, 13), ror(a, 22)) + majority
    a, b, c, d, e, f, g, h = tobit(one + two), a, b, c, tobit(d + one), e, f, g
  end
  local after = { a, b, c, d, e, f, g, h }
  for nth = 1, 8 do
    after[nth] = tobit(after[nth] + state[nth])
  end
  return after
end

--- Returns a number as eight bytes, highest first.
local function eight_bytes(number)
  local bytes = {}
  for nth = 8, 1, -1 do
    bytes[nth] = string.char(number % 256)
    number = math.floor(number / 256)
  end
  return table.concat(bytes)
end

local function sha256(bytes)
  local padded = bytes .. '\128' .. ('\0'):rep((55 - #bytes) % 64) .. eight_bytes(8 * #bytes)
  local state = START
  for at = 1, #padded, 64 do
    state = compress(state, schedule(padded, at))
  end
  local words = {}
  for nth = 1, 8 do
    words[nth] = bit.tohex(state[nth])
  end
  return table.concat(words)
end

--- Returns the bytes of hexadecimal text.
local function from_hex(hex)
  return (hex:gsub('%x%x', function(pair)
    return string.char(tonumber(pair, 16))
  end))
end

local function pad(key, with)
  return (key .. ('\0'):rep(64 - #key)):gsub('.', function(byte)
    return string.char(bit.bxor(byte:byte(), with))
  end)
end

--- Returns the MAC of texts under a secret, which is hexadecimal text. Each text is preceded by its length.
return function(secret, texts)
  local message = {}
  for nth, one in ipairs(texts) do
    message[nth] = eight_bytes(#one) .. one
  end
  local key = from_hex(#secret > 128 and sha256(from_hex(secret)) or secret)
  local inner = sha256(pad(key, 0x36) .. table.concat(message))
  return sha256(pad(key, 0x5c) .. from_hex(inner))
end
