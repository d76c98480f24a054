import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { openSql } from '../../../src/storage/sql/driver/open.ts'
import { startPgBouncer, withoutPgBouncer } from '../../support/stores/sql/pgbouncer.ts'
import { type PostgresCluster, startPostgres, withoutPostgres } from '../../support/stores/sql/postgres.ts'

const reason = withoutPostgres() + withoutPgBouncer()
const IGNORED =
  'ignore_startup_parameters = statement_timeout,idle_in_transaction_session_timeout,options,extra_float_digits'

describe.skipIf(reason !== '')(`openSql through PgBouncer${reason}`, () => {
  let cluster: PostgresCluster
  beforeAll(async () => {
    cluster = await startPostgres()
  })
  afterAll(() => cluster?.stop())

  it.each([
    ['in transaction mode, which ignores settings of a session', ['pool_mode = transaction', IGNORED]],
    ['in transaction mode, which refuses them', ['pool_mode = transaction']],
    ['in session mode, which refuses them', ['pool_mode = session']],
  ])('refuses one %s, with words', async (_, settings) => {
    const pooler = await startPgBouncer(await cluster.createDatabase(), settings)
    onTestFinished(() => pooler.stop())
    await expect(openSql({ url: pooler.url, file: '' })).rejects.toMatchObject({
      code: 'config_invalid',
      message: expect.stringContaining('PgBouncer'),
    })
  })

  it('refuses one in session mode that drops them: tables would be in another schema', async () => {
    const pooler = await startPgBouncer(await cluster.createDatabase(), ['pool_mode = session', IGNORED])
    onTestFinished(() => pooler.stop())
    await expect(openSql({ url: pooler.url, file: '' })).rejects.toMatchObject({ code: 'config_invalid' })
  })
})
