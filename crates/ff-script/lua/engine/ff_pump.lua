--- Fires the due work of a partition, at most one batch. Then does one step of the pending work of flows, forgets executions whose
--- retention is over, and returns the time of the next due work.
---
--- key  lease_expiry   zset
--- arg  jitter           int    random number, for jitter
---
--- ok   fired          number of executions and flows with fired work
--- ok   leases         number of leases that were not renewed in time
--- ok   attempts       number of attempts that ran too long
--- ok   deadlines      number of executions past their deadline
--- ok   next_due       ms, in the past when more than one batch was due, empty when nothing is due
--- no   invalid_args
--- flag allow-oom             a full server must still be able to fire what is due

local moment = now()
local fired, records, forgotten = 0, 0, {}
local lapsed = { leases = 0, attempts = 0, deadlines = 0 }
index.collect()
for nth, id in ipairs(due.ready(limits.pump_batch, moment)) do
  if nth > limits.pump_batch then
    break
  end
  local e = record.find(id)
  local until_ms = e and forget.at(e)
  if until_ms and until_ms <= moment then
    records = records + forget.records(e)
    if records <= limits.forget or not forgotten[1] then
      fired, forgotten[#forgotten + 1] = fired + 1, e
    end
  elseif e then
    local propagation = step.owed_by(e)
    if due.fire(e, jitter, moment, lapsed) or propagation then
      fired = fired + 1
    end
  end
end
for nth, id in ipairs(due.flows(limits.pump_batch, moment)) do
  if nth > limits.pump_batch then
    break
  end
  member_sweep.due(id, moment)
  fired = fired + 1
end
step.run()
for _, e in ipairs(forgotten) do
  forget.execution(e)
end
index.flush()
local next_due = due.next_here()
here.memory.announced = next_due
local leases, attempts, deadlines = text(lapsed.leases), text(lapsed.attempts), text(lapsed.deadlines)
return ok(text(fired), leases, attempts, deadlines, next_due and text(next_due) or '')
