--- Returns true if bytes are a text that callers may choose: not empty, within its limit, UTF-8 and without control characters.

local SEQUENCES = {
  '^[\32-\126]+', '^[\195-\223][\128-\191]', '^\194[\160-\191]', '^\224[\160-\191][\128-\191]',
  '^[\225-\236\238\239][\128-\191][\128-\191]', '^\237[\128-\159][\128-\191]', '^\240[\144-\191][\128-\191][\128-\191]',
  '^[\241-\243][\128-\191][\128-\191][\128-\191]', '^\244[\128-\143][\128-\191][\128-\191]',
}

return function(bytes)
  local at = 1
  while at <= #bytes do
    local last
    for nth = 1, #SEQUENCES do
      last = last or select(2, bytes:find(SEQUENCES[nth], at))
    end
    if not last then
      return false
    end
    at = last + 1
  end
  return at > 1 and #bytes <= limits.text_bytes
end
