import { expect, it, onTestFinished } from 'vitest'
import { createLogger } from '../base/log.ts'
import { connectClickHouse } from './clickhouse/connect.ts'
import { openRedis } from './redis/redis.ts'

const REFUSED = 'stores receive whole numbers'
/** Nothing listens here: what is refused is not sent. */
const NOWHERE = '127.0.0.1:9'

it('D-67: ClickHouse gets no fraction as an integer or a time, also in an array, but as a Float64', async () => {
  const clickhouse = connectClickHouse({ url: `http://${NOWHERE}`, database: 'weir' })
  onTestFinished(() => clickhouse.close())
  const at = 1_795_165_200_000.996
  const sent = { code: 'store_unavailable' }
  for (const type of ['Int64', 'UInt32', 'DateTime64(3)', 'Nullable(Int64)']) {
    const sql = `SELECT {at:${type}}`
    await expect(clickhouse.rows(sql, { params: { at } })).rejects.toThrow(REFUSED)
    await expect(clickhouse.rowBinary(sql, { params: { at } })).rejects.toThrow(REFUSED)
    await expect(clickhouse.command(sql, { params: { at } })).rejects.toThrow(REFUSED)
    await expect(clickhouse.rows(sql, { params: { at: Math.floor(at) } })).rejects.toMatchObject(sent)
  }
  await expect(clickhouse.rows('SELECT {at:Array(Int64)}', { params: { at: [1, at] } })).rejects.toThrow(
    REFUSED,
  )
  await expect(clickhouse.rows('SELECT {at:Float64}', { params: { at } })).rejects.toMatchObject(sent)
})

it('D-67: Redis gets no fraction, as argument of a command or of a script', async () => {
  const redis = openRedis(`redis://${NOWHERE}`, createLogger({ level: 'silent' }))
  onTestFinished(() => redis.close())
  await expect(redis.command('SET', 'k', 1.5)).rejects.toThrow(REFUSED)
  await expect(redis.run('return 1', [], [1.5])).rejects.toThrow(REFUSED)
  await expect(redis.command('SET', 'k', 1)).rejects.toMatchObject({ code: 'store_unavailable' })
})
