import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const FIXTURES = fileURLToPath(new URL('../../fixtures/', import.meta.url))

const BROKEN = 'import json\n\nvalue = json.loads("{")\ngraph = None\n'
const PACKAGED = `
from langgraph.graph import START, MessagesState, StateGraph
from .words import WORD
graph = StateGraph(MessagesState).add_node("say", lambda _: {"messages": [("ai", WORD)]}).add_edge(START, "say")
`

const FACTORY = `
import asyncio
import contextlib
from langchain_core.runnables import RunnableConfig
from langgraph.graph import START, StateGraph
from langgraph_sdk.runtime import ServerRuntime

@contextlib.asynccontextmanager
async def make(config: RunnableConfig, runtime: ServerRuntime[dict]):
    entered = asyncio.current_task()
    found = runtime.execution_runtime
    said = [runtime.access_context, found and found.context, type(runtime.store).__name__]
    yield StateGraph(dict).add_node("say", lambda _: {"said": said}).add_edge(START, "say")
    # As anyio's cancel scopes demand, which MCP sessions use.
    assert asyncio.current_task() is entered
    if config.get("configurable", {}).get("break"):
        raise OSError("the session cannot be closed")
`

/** The names that features.py exports. */
const FEATURES = [
  'functional',
  'sync_factory',
  'bare_factory',
  'sync_manager',
  'helpers',
  'model',
  'agent',
  'api',
]

/** Writes a project with Python graphs and a TypeScript graph. Resolves with the path of its langgraph.json. */
export async function writePythonProject(dir: string): Promise<string> {
  await mkdir(join(dir, 'src', 'talk'), { recursive: true })
  await writeFile(join(dir, 'broken.py'), BROKEN)
  await writeFile(join(dir, 'factory.py'), FACTORY)
  await writeFile(join(dir, 'src', 'talk', '__init__.py'), '')
  await writeFile(join(dir, 'src', 'talk', 'words.py'), 'WORD = "good day"\n')
  await writeFile(join(dir, 'src', 'talk', 'graph.py'), PACKAGED)
  const graphs = {
    kinds: `${FIXTURES}python-graphs/kinds.py:graph`,
    tokens: `${FIXTURES}python-graphs/tokens.py:graph`,
    hostile: `${FIXTURES}python-graphs/hostile.py:builder`,
    talk: './src/talk/graph.py:graph',
    talk_module: 'talk.graph:graph',
    typescript: `${FIXTURES}graphs/kinds.ts:graph`,
    broken: './broken.py:graph',
    factory: './factory.py:make',
    ...Object.fromEntries(FEATURES.map((name) => [name, `${FIXTURES}python-graphs/features.py:${name}`])),
    echo: `${FIXTURES}python-graphs/seen.py:echo`,
    spinning: `${FIXTURES}python-graphs/features.py:hostile`,
    nameless: `${FIXTURES}python-graphs/kinds.py:nothing`,
  }
  const file = join(dir, 'langgraph.json')
  await writeFile(file, JSON.stringify({ dependencies: ['.'], graphs }))
  return file
}
