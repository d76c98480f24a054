import { describe, expect, it } from 'vitest'
import { classifyStatement, insertFromFile, quoteName, quoteSql } from './statement.ts'

function rewritten(sql: string): string {
  const statement = classifyStatement(sql, true, 'TabSeparated')
  return statement.kind === 'insert' ? insertFromFile(statement, 'f') : `not an insert: ${statement.kind}`
}

describe('classifyStatement', () => {
  it.each([
    ['SELECT 1', 'TabSeparated'],
    ['  -- a note\n/* another */ select 1 FORMAT JSONEachRow ;\n', 'JSONEachRow'],
    ['(SELECT 1) UNION ALL (SELECT 2) format RowBinary', 'RowBinary'],
    ['WITH 1 AS x SELECT x FORMAT JSON SETTINGS max_threads = 1', 'JSON'],
    ["SELECT 'FORMAT CSV' AS format", 'TabSeparated'],
    ['SHOW TABLES', 'TabSeparated'],
    ['EXPLAIN SELECT 1', 'TabSeparated'],
  ])('%s is a read', (sql, format) => {
    expect(classifyStatement(sql, false, 'TabSeparated')).toMatchObject({ kind: 'read', format })
  })

  it.each([
    'CREATE TABLE t (a Int8) ENGINE = Memory',
    'ALTER TABLE t DROP COLUMN a',
    'selectively wrong',
    '',
    ';',
  ])('%j is a change', (sql) => expect(classifyStatement(sql, false, 'CSV').kind).toBe('change'))

  it('an insert without a body, or that reads its rows itself, is a change', () => {
    expect(classifyStatement('INSERT INTO t FORMAT RowBinary', false, 'CSV').kind).toBe('change')
    expect(classifyStatement('INSERT INTO t SELECT 1', true, 'CSV').kind).toBe('change')
  })
})

describe('insertFromFile', () => {
  it.each([
    ['INSERT INTO t FORMAT RowBinary', `INSERT INTO t FROM INFILE 'f' COMPRESSION 'none' FORMAT RowBinary`],
    [
      'insert into d.t (a, `b c`)\n  format JSONEachRow\n',
      "insert into d.t (a, `b c`) FROM INFILE 'f' COMPRESSION 'none' FORMAT JSONEachRow",
    ],
    [
      'INSERT INTO t (a) SETTINGS async_insert = 0 FORMAT CSV',
      `INSERT INTO t (a) FROM INFILE 'f' COMPRESSION 'none' SETTINGS async_insert = 0 FORMAT CSV`,
    ],
    ['INSERT INTO t (a) VALUES', `INSERT INTO t (a) FROM INFILE 'f' COMPRESSION 'none' FORMAT Values`],
  ])('%j', (sql, expected) => expect(rewritten(sql)).toBe(expected))
})

describe('quoting', () => {
  it('escapes every literal and name', () => {
    expect(quoteSql("a'b\\c\0")).toBe("'a\\'b\\\\c\\0'")
    expect(quoteName('a`b\\')).toBe('`a\\`b\\\\`')
  })
})
