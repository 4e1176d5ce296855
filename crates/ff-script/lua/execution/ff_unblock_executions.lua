--- Makes executions that are blocked on a given reason ready again. Other executions are skipped.
---
--- key  all_executions  zset
--- arg  from            text   route, quota or budget
--- arg  ids             list
---
--- ok   waits_ms        ms since the last change of each unblocked execution, separated by commas
--- no   invalid_args
--- flag allow-oom              a full server must still be able to let work go on

local moment, waits_ms = now(), {}
index.collect()
for _, id in ipairs(ids) do
  local e = record.find(id)
  -- With `behind`, an earlier execution of its singleton key has not ended; a free quota slot does not help.
  if e and e.core.blocked_on == from and phase.reason(from) and not e.core.behind then
    waits_ms[#waits_ms + 1] = text(math.max(0, moment - e.core.changed_at))
    phase.admit(e, moment)
    record.save(e)
  end
end
return ok(table.concat(waits_ms, ','))
