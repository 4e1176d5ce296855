--- Adds the spending that the holder of an execution reports. A report with a remembered id is not counted again. Spending under the last
--- lease counts even after that lease has ended.
---
--- key  core          hash
--- key  remembered    string
--- arg  lease_id      uuid
--- arg  lease_epoch   int
--- arg  attempt_id    uuid
--- arg  amounts       list    dimension and amount, repeated
---
--- ok   late          1 when the lease had ended or expired
--- ok   kind
--- ok   seq           number of accepted reports
--- ok   total         their sum: dimension and amount, repeated
--- ok   counted_seq   number of reports that every budget is known to have counted
--- ok   counted       the sum of those reports
--- ok   budgets       ids of the budgets that must still count reports
--- no   execution_not_found
--- no   execution_not_active
--- no   stale_lease
--- no   limit_exceeded
--- no   invalid_args
--- flag allow-oom     work that runs on a full server must be able to go on

local moment, id = now(), keys.id(core)
local attempt = lease.attempt_text(lease_epoch, attempt_id)
local e = record.load(id)
local held = e and e.lease
local is_current = held and held.lease_id == lease_id and held.attempt == attempt
local was_last = e and e.core.last_lease_id == lease_id and e.core.last_attempt == attempt
if not is_current and not was_last then
  return (lease.refusal(id, lease_id, attempt))
end
local late = not is_current or moment >= held.expires_at
local spent = usage.read(e.core.usage)
local until_ms = e.core.usage and tonumber(call('GET', remembered) or 0) or 0
local is_new = moment >= until_ms
if is_new then
  local refusal = usage.refusal(spent, amounts)
  if refusal then
    return refusal
  end
  local kept = keys.attempt(id, text(e.core.current_attempt_index or 0)) .. ':usage'
  for nth = 1, #amounts, 2 do
    if amounts[nth + 1] ~= '0' then
      usage.add(spent, amounts[nth], whole(amounts[nth + 1]))
      call('HINCRBY', kept, amounts[nth], amounts[nth + 1])
    end
  end
  spent.seq = spent.seq + 1
  call('SET', remembered, text(moment + limits.usage_remembered_ms), 'PX', limits.usage_remembered_ms)
end
local budgets = quotas.budgets(e)
if spent.counted_seq < spent.seq and not budgets[1] then
  usage.count(spent, spent.seq, spent.total)
end
if is_new or not budgets[1] then
  usage.write(e, spent)
end
if spent.counted_seq == spent.seq then
  budgets = {}
end
local reply = {
  1, is_new and 'OK' or 'DUPLICATE', late and '1' or '', e.core.kind, text(spent.seq), budget_ledger.written(spent.total),
  text(spent.counted_seq), budget_ledger.written(spent.counted), budgets,
}
return reply
