--- New work as a list of arguments: groups, each with the common properties of its members and then its members.
---
--- A group begins with namespace, lane, kind, content type (empty for JSON), priority, policy (empty for the default one) and the number of
--- its members. A member begins with execution id, payload, digest, the number of tag items, and the number of further items. Then come the
--- tags as keys and values, and the further items as names and values.

local work = {}

local GROUP, MEMBER = 7, 5

local NUMBERS = {
  dedup_window_ms = true,
  start_in_ms = true,
  start_at = true,
  deadline_in_ms = true,
  attempt_timeout_ms = true,
}

--- Returns how many members a list has, or nil if it is malformed.
function work.count(works)
  local at, last, all = 1, #works, 0
  while at <= last do
    local members = whole(works[at + GROUP - 1])
    if not members or not whole(works[at + 4]) then
      return nil
    end
    at, all = at + GROUP, all + members
    for _ = 1, members do
      local tags, more = whole(works[at + 3]), whole(works[at + 4])
      if not tags or not more or more % 2 == 1 then
        return nil
      end
      at = at + MEMBER + tags + more
    end
  end
  return at == last + 1 and all or nil
end

--- Returns the further items of a member by name; otherwise nil and the name of an invalid number.
local function more_of(works, first, last)
  local more = {}
  for nth = first, last, 2 do
    local name, value = works[nth], works[nth + 1]
    if NUMBERS[name] then
      value = whole(value)
      if not value then
        return nil, name
      end
    end
    more[name] = value
  end
  return more
end

--- Creates the member at a position. Returns its answer and where the next one begins. A member that waits answers with its id alone.
local function create_member(group, works, at)
  local id, payload, digest, tags, few = unpack(works, at, at + MEMBER - 1)
  local first_tag = at + MEMBER
  local first = first_tag + tags
  local following = first + few
  local more, wrong
  if following > first then
    more, wrong = more_of(works, first, following - 1)
    if wrong then
      return no.invalid_args('field', wrong), following
    end
  end
  local answer, state = create.one(group, id, payload, digest, works, first_tag, first - 1, more)
  return answer or state == 'waiting' and id or ok(id, state), following
end

--- Creates all members of a list, and returns the answers.
function work.create_all(works, moment)
  local answers, at, last = {}, 1, #works
  while at <= last do
    local namespace, lane_id, kind, content_type, priority, policy_json, members = unpack(works, at, at + GROUP - 1)
    content_type, policy_json = content_type ~= '' and content_type, policy_json ~= '' and policy_json
    local group = create.group(namespace, lane_id, kind, content_type, tonumber(priority), policy_json, moment)
    at = at + GROUP
    for _ = 1, members do
      answers[#answers + 1], at = create_member(group, works, at)
    end
    create.write(group)
  end
  return answers
end

return work
