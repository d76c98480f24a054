import { expect, it } from 'vitest'
import { describeOnSql } from '../../support/stores/sql/sql-databases.ts'

describeOnSql('D-67: a number with a fraction', (engine) => {
  it('is refused as a parameter, in a transaction too, and nothing is stored', async () => {
    const database = await engine.open()
    await database.query('CREATE TABLE times (ms BIGINT)')
    const insert = 'INSERT INTO times (ms) VALUES (?)'
    for (const wrong of [1_795_165_200_000.996, Number.NaN, Number.POSITIVE_INFINITY]) {
      const refused = 'stores receive whole numbers'
      await expect(database.query(insert, [wrong])).rejects.toThrow(refused)
      await expect(database.query('SELECT ms FROM times WHERE ms <= ?', [wrong])).rejects.toThrow(refused)
      const tx = database.tx('t', async (session) => session.send(insert, [wrong]))
      await expect(tx).rejects.toThrow(refused)
    }
    await database.query(insert, [1_795_165_200_000])
    expect(await database.query('SELECT ms FROM times')).toEqual([{ ms: 1_795_165_200_000 }])
  })
})
