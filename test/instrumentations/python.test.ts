import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, it } from 'vitest'
import { CLIENT_MS, runClient } from './run-client.ts'
import { expectInTable, type Row } from './table.ts'
import { useClients } from './use-clients.ts'

/** Functions of clients.py, grouped by their requirements. The groups cannot be installed together. */
const CLIENTS = {
  main: {
    openllmetry_openai: 'OpenLLMetry, OpenAI chat',
    openllmetry_openai_responses: 'OpenLLMetry, OpenAI Responses',
    openllmetry_anthropic: 'OpenLLMetry, Anthropic',
    openllmetry_ollama: 'OpenLLMetry, Ollama',
    openinference_openai: 'OpenInference, OpenAI chat',
    openinference_openai_responses: 'OpenInference, OpenAI Responses',
    openinference_anthropic: 'OpenInference, Anthropic',
    openinference_google: 'OpenInference, Gemini',
    openinference_vertex: 'OpenInference, Gemini of Vertex AI',
    openinference_langchain: 'OpenInference, LangChain',
    langsmith_langchain: 'LangSmith, LangChain',
    langsmith_openai: 'LangSmith, wrap_openai',
    langsmith_hybrid: 'LangSmith, hybrid mode',
    contrib_openai: "OpenTelemetry's own, OpenAI chat",
    logfire_openai: 'Logfire, OpenAI chat',
    logfire_anthropic: 'Logfire, Anthropic',
    pydantic_ai: 'pydantic-ai with Logfire',
    langfuse_openai: 'Langfuse, OpenAI chat',
    openai_agents: 'openai-agents with OpenInference',
    haystack: 'Haystack with OpenInference',
    haystack_own: "Haystack's own tracer",
    agno: 'agno with OpenInference',
    smolagents: 'smolagents with OpenInference',
  },
  litellm: {
    litellm: 'litellm',
    llama_index: 'LlamaIndex with OpenInference',
    dspy: 'DSPy with OpenInference',
  },
  strands: {
    strands: 'Strands',
  },
  crewai: {
    crewai: 'CrewAI with OpenInference',
  },
  mlflow: {
    mlflow_openai: 'MLflow, OpenAI chat',
  },
} as const

/** Clients that do not set a project. */
const IN_DEFAULT = new Set(['langfuse_openai'])
const SCRIPT = fileURLToPath(new URL('clients.py', import.meta.url))

type Group = keyof typeof CLIENTS
const GROUPS = Object.keys(CLIENTS) as Group[]

function venvOf(group: Group): string {
  return fileURLToPath(new URL(`../../.venv-${group}`, import.meta.url))
}

function isInstalled(group: Group): boolean {
  const installed = join(venvOf(group), 'requirements.txt')
  const wanted = new URL(`requirements/${group}.txt`, import.meta.url)
  return existsSync(installed) && readFileSync(installed, 'utf8') === readFileSync(wanted, 'utf8')
}

const { CI, WITHOUT_PYTHON } = process.env
const mustRun = CI === '1' && WITHOUT_PYTHON !== '1'
const missing =
  mustRun || GROUPS.every(isInstalled) ? '' : ' (test/instrumentations/install has not been run)'

describe.skipIf(missing !== '')(`instrumentations in Python${missing}`, () => {
  const current = useClients()
  const rows: Row[] = []

  for (const group of GROUPS) {
    const file = join(venvOf(group), 'bin', 'python')
    for (const [name, title] of Object.entries(CLIENTS[group])) {
      const project = IN_DEFAULT.has(name) ? 'default' : name
      const runs = async () =>
        rows.push(await runClient({ title, file, args: [SCRIPT, name], project }, current()))
      it(`${title} runs`, runs, CLIENT_MS)
    }
  }

  it('are read as docs/using/instrumentations.md says', () => expectInTable('python', rows))
})
