--- Writes the indexes of plain first tries that completed: ids by lane and holder.

return function(plain, moment)
  for lane, of_lane in pairs(plain) do
    for holder, ids in pairs(of_lane) do
      index.finish_all(lane, lease.instance(holder), moment, ids)
    end
  end
end
