import { mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, it } from 'vitest'
import { unpackSource } from './unpack-source.ts'
import { newFolder } from '../../../test/support/folder.ts'

interface Part {
  name: string
  type?: string
  text?: string
  mode?: number
  prefix?: string
}

function header({ name, type = '0', text = '', mode = 0o644, prefix = '' }: Part): Buffer {
  const block = Buffer.alloc(512)
  block.write(name, 0, 100)
  block.write(mode.toString(8).padStart(7, '0'), 100)
  block.write(Buffer.byteLength(text).toString(8).padStart(11, '0'), 124)
  block.write('        ', 148)
  block.write(type, 156)
  block.write('ustar\x0000', 257)
  block.write(prefix, 345)
  const sum = block.reduce((total, byte) => total + byte, 0)
  block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
  return block
}

function tar(...parts: Part[]): Buffer {
  const blocks = parts.flatMap((part) => {
    const body = Buffer.from(part.text ?? '')
    return [header(part), body, Buffer.alloc((512 - (body.length % 512)) % 512)]
  })
  return Buffer.concat([...blocks, Buffer.alloc(1024)])
}

function pax(key: string, value: string): Part {
  const tail = ` ${key}=${value}\n`
  let length = tail.length
  while (`${length}${tail}`.length !== length) length = `${length}${tail}`.length
  return { name: 'PaxHeader', type: 'x', text: `${length}${tail}` }
}

describe('archives of sources', () => {
  let folder: string
  beforeEach(async () => void (folder = await newFolder()))

  async function unpack(archive: Buffer, limits?: { max_files: number; max_bytes: number }) {
    const file = join(folder, 'source.tar.gz')
    await writeFile(file, archive)
    const dir = await mkdtemp(join(folder, 'out-'))
    return { dir, unpacked: await unpackSource(file, dir, limits) }
  }

  it('files, folders, modes and names in all three formats are unpacked', async () => {
    const long = `${'d'.repeat(120)}/${'f'.repeat(120)}.ts`
    const { dir, unpacked } = await unpack(
      gzipSync(
        tar(
          { name: './', type: '5' },
          { name: './langgraph.json', text: '{}' },
          { name: 'run.sh', text: '#!/bin/sh', mode: 0o755 },
          { name: 'file.ts', prefix: 'src/deep', text: 'x'.repeat(1000) },
          pax('path', long),
          { name: 'short', text: 'pax' },
          { name: '././@LongLink', type: 'L', text: `gnu/${long}\0` },
          { name: 'short', text: 'gnu' },
          { name: 'empty', type: '5' },
        ),
      ),
    )
    expect(unpacked.bytes).toBe(2 + 9 + 1000 + 3 + 3)
    expect(await readFile(join(dir, 'langgraph.json'), 'utf8')).toBe('{}')
    expect((await stat(join(dir, 'run.sh'))).mode & 0o777).toBe(0o755)
    expect(await readFile(join(dir, 'src/deep/file.ts'), 'utf8')).toHaveLength(1000)
    expect(await readFile(join(dir, long), 'utf8')).toBe('pax')
    expect(await readFile(join(dir, 'gnu', long), 'utf8')).toBe('gnu')
    expect(await readdir(join(dir, 'empty'))).toEqual([])
  })

  const good = gzipSync(tar({ name: 'a', text: 'x'.repeat(3000) }, { name: 'b', text: 'y' }))
  const damaged = tar({ name: 'a', text: 'x' })
  damaged[0] = 0x7a

  it.each<[string, Buffer, RegExp]>([
    ['an absolute path', gzipSync(tar({ name: '/etc/passwd', text: 'x' })), /absolute path: "\/etc\/passwd"/],
    [
      'a path out of the folder',
      gzipSync(tar({ name: 'a/../../b', text: 'x' })),
      /"\.\.": "a\/\.\.\/\.\.\/b"/,
    ],
    ['such a path in a PAX header', gzipSync(tar(pax('path', '../up'), { name: 'a' })), /"\.\.": "\.\.\/up"/],
    [
      'such a path in a GNU header',
      gzipSync(tar({ name: 'l', type: 'L', text: '../up\0' }, { name: 'a' })),
      /"\.\."/,
    ],
    ['a symbolic link', gzipSync(tar({ name: 'link', type: '2' })), /a symbolic link: "link"/],
    [
      'a link to a long path',
      gzipSync(
        tar({ name: '././@LongLink', type: 'K', text: `${'d/'.repeat(80)}\0` }, { name: 'far', type: '2' }),
      ),
      /a symbolic link: "far"/,
    ],
    [
      'a sparse file in the PAX format',
      gzipSync(tar(pax('GNU.sparse.major', '1'), { name: 'GNUSparseFile.1/a', text: '1\n0\n' })),
      /a sparse file/,
    ],
    ['a hard link', gzipSync(tar({ name: 'link', type: '1' })), /a hard link: "link"/],
    ['a device', gzipSync(tar({ name: 'null', type: '3' })), /a device: "null"/],
    ['a named pipe', gzipSync(tar({ name: 'pipe', type: '6' })), /a named pipe: "pipe"/],
    ['an unknown type', gzipSync(tar({ name: 'x', type: 'Z' })), /an entry of type Z: "x"/],
    ['a path twice', gzipSync(tar({ name: 'a' }, { name: 'a' })), /a path twice.*"a"/],
    ['a file that is a folder too', gzipSync(tar({ name: 'a' }, { name: 'a/b' })), /a path twice.*"a\/b"/],
    [
      'a name of 300 bytes',
      gzipSync(tar(pax('path', 'n'.repeat(300)), { name: 'a' })),
      /more than 255 bytes/,
    ],
    [
      'a PAX header that lies about its length',
      gzipSync(tar({ name: 'p', type: 'x', text: '99 path=a\n' })),
      /PAX/,
    ],
    ['a header of a megabyte', gzipSync(tar({ name: 'p', type: 'x', text: 'x'.repeat(1e6) })), /too long/],
    ['a wrong checksum', gzipSync(damaged), /checksum/],
    ['text', Buffer.from('not an archive'), /not a gzip file/],
    ['a cut gzip stream', good.subarray(0, good.length - 20), /cut short/],
    ['a cut tar file', gzipSync(tar({ name: 'a', text: 'x'.repeat(3000) }).subarray(0, 1500)), /cut short/],
    ['nothing', gzipSync(Buffer.alloc(1024)), /no files/],
  ])('%s is refused', async (_what, archive, message) => {
    await expect(unpack(archive)).rejects.toThrow(message)
  })

  it("P-19: in GNU's own format, times are no part of a name", async () => {
    const block = header({ name: 'a.txt', text: 'x', prefix: '15012345670' })
    block.write('ustar  \0', 257)
    block.write('        ', 148)
    const sum = block.reduce((total, byte) => total + byte, 0)
    block.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148)
    const archive = Buffer.concat([block, Buffer.from('x'.padEnd(512, '\0')), Buffer.alloc(1024)])
    const { dir } = await unpack(gzipSync(archive))
    expect(await readdir(dir)).toEqual(['a.txt'])
  })

  it('P-19: too many files and too many bytes are refused before they are written', async () => {
    await expect(unpack(good, { max_files: 1, max_bytes: 1e6 })).rejects.toThrow(/more than 1 files/)
    await expect(unpack(good, { max_files: 10, max_bytes: 2999 })).rejects.toThrow(/2999 bytes: "a"/)
    const [out = ''] = (await readdir(folder)).filter((name) => name.startsWith('out-')).slice(-1)
    expect(await readdir(join(folder, out))).not.toContain('b')
  })
})
