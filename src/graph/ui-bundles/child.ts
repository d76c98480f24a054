import { readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { build, watch } from '@langchain/langgraph-ui'
import { type Channel, openChannel } from '../pool/channel.ts'
import { openServerSocket } from '../pool/vitals.ts'
import { prepareLoader } from '../host/load-graphs.ts'
import { createImportFor } from '../project/project-module.ts'
import { makeTemporaryFolder } from '../project/temporary-folder.ts'
import type { FromUiHost, ToUiHost } from './messages.ts'

interface Bundler {
  build: typeof build
  watch: typeof watch
}
type Send = Channel<FromUiHost>['send']

/** Bundles UI components in this process until the server ends it. */
export function serveUiBundles(): void {
  const channel = openChannel<ToUiHost, FromUiHost>(
    openServerSocket(),
    ({ head }) => void bundleAll(head, channel.send),
  )
}

async function bundleAll(asked: ToUiHost, send: Send): Promise<void> {
  for (const graph_id of Object.keys(asked.ui)) {
    try {
      await bundle(asked, graph_id, send)
    } catch (error) {
      send({ type: 'failed', graph_id, message: error instanceof Error ? error.message : String(error) })
    }
  }
}

let bundler: Promise<Bundler> | undefined

/** LangGraph's bundler: the project's copy if it has one. */
async function loadBundler(folder: string): Promise<Bundler> {
  await prepareLoader([])
  return createImportFor()<Bundler>(join(folder, 'langgraph.json'), '@langchain/langgraph-ui')
}

async function bundle({ folder, ui, shared, watch }: ToUiHost, graph_id: string, send: Send): Promise<void> {
  bundler ??= loadBundler(folder)
  const { build, watch: bundleOnChange } = await bundler
  const shape = { cwd: folder, defs: { [graph_id]: ui[graph_id] ?? '' }, config: { shared } }
  if (watch) {
    await bundleOnChange({
      ...shape,
      onOutput: (_graph, files) =>
        send(
          { type: 'bundled', graph_id, names: files.map(({ basename }) => basename) },
          files.map(({ contents }) => contents),
        ),
    })
    return
  }
  const output = await makeTemporaryFolder(tmpdir(), 'ui')
  let files: BuiltFile[]
  try {
    await build({ ...shape, output })
    files = await readFiles(join(output, 'public', graph_id))
  } finally {
    await rm(output, { recursive: true, force: true })
  }
  // This message is sent last, because the server may end this process as soon as it has received the files.
  send(
    { type: 'bundled', graph_id, names: files.map(({ name }) => name) },
    files.map(({ content }) => content),
  )
}

interface BuiltFile {
  name: string
  content: Uint8Array
}

async function readFiles(folder: string): Promise<BuiltFile[]> {
  const names = await readdir(folder)
  return Promise.all(names.map(async (name) => ({ name, content: await readFile(join(folder, name)) })))
}
