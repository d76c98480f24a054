// Redis runs scripts one at a time, so that ids, fence and events of a thread change together. All keys of a thread are
// in the same slot of a cluster.

/**
 * KEYS: stream, log, fence, once. ARGV: now, events, chars, heads, data, keep (ms), attempt, token, id, ends, channel,
 * message. The fence of a run is `<latest attempt> <1 when the run has ended> <tokens of all attempts that appended>`.
 * A new run with the id of a deleted run starts again with attempt 1. Returns position, offset, ms and seq of the first
 * event; nothing when the lease is lost, 0 when `id` was appended before.
 */
export const APPEND = `
local events, chars, keep = tonumber(ARGV[2]), tonumber(ARGV[3]), tonumber(ARGV[6])
if ARGV[9] ~= '' and not redis.call('SET', KEYS[4], '', 'NX', 'PX', keep) then return 0 end
local fence = redis.call('GET', KEYS[3]) or '0 0 '
local latest, done, tokens = string.match(fence, '^(%d+) (%d) (.*)$')
if ARGV[8] ~= '' then
  local attempt, known = tonumber(ARGV[7]), string.find(tokens, ARGV[8], 1, true)
  if not (known and done == '0' and attempt == tonumber(latest)) then
    local isOld = attempt <= tonumber(latest) and (done == '0' or attempt > 1)
    if known or isOld then return false end
    if done == '1' then tokens = '' end
    redis.call('SET', KEYS[3], ARGV[7] .. ' 0 ' .. tokens .. ' ' .. ARGV[8], 'PX', keep)
  end
end
if ARGV[10] ~= '' then redis.call('SET', KEYS[3], latest .. ' 1 ' .. tokens, 'PX', keep) end
local log = redis.call('HMGET', KEYS[2], 'total', 'chars', 'ms', 'seq')
local total, sum = tonumber(log[1] or 0), tonumber(log[2] or 0)
local ms, seq = tonumber(log[3] or 0), tonumber(log[4] or -1)
if tonumber(ARGV[1]) > ms then ms, seq = tonumber(ARGV[1]), -1 end
local last = seq + events
local text = string.format('%.0f', ms)
redis.call('HSET', KEYS[2], 'total', total + events, 'chars', string.format('%.0f', sum + chars), 'ms', text, 'seq', last)
redis.call('XADD', KEYS[1], text .. '-' .. last, 'n', events, 'p', total, 'o', string.format('%.0f', sum),
  'h', ARGV[4], 'd', ARGV[5])
redis.call('PEXPIRE', KEYS[1], keep)
redis.call('PEXPIRE', KEYS[2], keep * 7)
redis.call('PUBLISH', ARGV[11], ARGV[12])
return {total, string.format('%.0f', sum), text, seq + 1}
`

/**
 * KEYS: stream, log. ARGV: after (exclusive start of XRANGE), events, chars. Returns the total, ms and seq of the last
 * event, ms and seq of the newest deleted event, and the chunks; nothing when there is no log. All events of an expired
 * stream count as deleted.
 */
export const PAGE = `
local log = redis.call('HMGET', KEYS[2], 'total', 'ms', 'seq', 'fms', 'fseq')
if not log[1] then return false end
local page = {}
local from, events, chars = ARGV[1], 0, 0
while events < tonumber(ARGV[2]) and chars < tonumber(ARGV[3]) do
  local some = redis.call('XRANGE', KEYS[1], from, '+', 'COUNT', 8)
  if #some == 0 then break end
  for _, chunk in ipairs(some) do
    if events >= tonumber(ARGV[2]) or chars >= tonumber(ARGV[3]) then break end
    page[#page + 1] = chunk
    events = events + tonumber(chunk[2][2])
    chars = chars + #chunk[2][10]
    from = '(' .. chunk[1]
  end
end
local fms, fseq = log[4] or '0', log[5] or '-1'
if redis.call('EXISTS', KEYS[1]) == 0 then fms, fseq = log[2], log[3] end
return {log[1], log[2], log[3], fms, fseq, page}
`

/**
 * KEYS: stream, log. ARGV: events, chars, oldest ms, chunks. Deletes some of the events beyond the limits; returns
 * whether any were deleted.
 */
export const TRIM = `
local log = redis.call('HMGET', KEYS[2], 'total', 'chars')
if not log[1] then return 0 end
local position, offset = tonumber(log[1]) - tonumber(ARGV[1]), tonumber(log[2]) - tonumber(ARGV[2])
local last
for _, chunk in ipairs(redis.call('XRANGE', KEYS[1], '-', '+', 'COUNT', tonumber(ARGV[4]))) do
  local ms = tonumber(string.match(chunk[1], '^%d+'))
  local isOld = tonumber(chunk[2][4]) < position or tonumber(chunk[2][6]) < offset or ms < tonumber(ARGV[3])
  if not isOld then break end
  redis.call('XDEL', KEYS[1], chunk[1])
  last = chunk[1]
end
if not last then return 0 end
local ms, seq = string.match(last, '^(%d+)-(%d+)$')
redis.call('HSET', KEYS[2], 'fms', ms, 'fseq', seq)
return 1
`
