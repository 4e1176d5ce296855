--- Fires what is due on a partition, at most one batch of it, pays one step of what is owed within flows, and says when the
--- next thing is.
---
--- key  lease_expiry   zset
--- arg  roll           int    chance, for jitter
---
--- ok   fired          how many executions and flows something fired for
--- ok   next_due       ms, in the past when there was more than one batch, empty when nothing is
--- no   invalid_args
--- flag allow-oom             a full server must still be able to fire what is due

local moment = now()
local fired = 0
index.collect()
for nth, id in ipairs(due.ready(limits.pump_batch, moment)) do
  if nth > limits.pump_batch then
    break
  end
  local e = record.find(id)
  local owes = e and step.owed_by(e)
  if e and (due.fire(e, roll, moment) or owes) then
    fired = fired + 1
  end
end
for nth, id in ipairs(due.flows(limits.pump_batch, moment)) do
  if nth > limits.pump_batch then
    break
  end
  tour.due(id, moment)
  fired = fired + 1
end
step.run()
index.flush()
local next_due = due.next_here()
here.memory.announced = next_due
return ok(text(fired), next_due and text(next_due) or '')
