--- New work as a list of arguments: groups, each with the common properties of its members and then its members.
---
--- A group begins with namespace, lane, kind, content type (empty for JSON), priority, policy (empty for the default one), the number of tag
--- items and of further items of each member, and the number of members. A member is its execution id, payload and digest, then its tags as
--- keys and values, and the further items as names and values.

local work = {}

local GROUP, MEMBER = 9, 3

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
    local tags, more, members = whole(works[at + 6]), whole(works[at + 7]), whole(works[at + 8])
    if not tags or not more or more % 2 == 1 or not members or not whole(works[at + 4]) then
      return nil
    end
    at, all = at + GROUP + members * (MEMBER + tags + more), all + members
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

--- Creates the member at a position, with tags up to `last_tag` and further items up to `last`. Returns its answer. A member that waits
--- answers with its id alone.
local function create_member(group, works, at, last_tag, last)
  local id, more, wrong = works[at], nil, nil
  if last > last_tag then
    more, wrong = more_of(works, last_tag + 1, last)
    if wrong then
      return no.invalid_args('field', wrong)
    end
  end
  local answer, state = create.one(group, id, works[at + 1], works[at + 2], works, at + MEMBER, last_tag, more)
  return answer or state == 'waiting' and id or ok(id, state)
end

--- Creates all members of a list, and returns the answers.
function work.create_all(works, moment)
  local answers, at, last = {}, 1, #works
  while at <= last do
    local namespace, lane_id, kind, content_type, priority, policy_json, tags, more, members =
      unpack(works, at, at + GROUP - 1)
    content_type, policy_json = content_type ~= '' and content_type, policy_json ~= '' and policy_json
    local group = create.group(namespace, lane_id, kind, content_type, tonumber(priority), policy_json, moment)
    local first, each = at + GROUP, MEMBER + tags + more
    at = first + members * each
    for member = first, at - 1, each do
      answers[#answers + 1] = create_member(group, works, member, member + MEMBER - 1 + tags, member + each - 1)
    end
    create.write(group)
  end
  return answers
end

return work
