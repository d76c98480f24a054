/**
 * What users send with and host, unmodified from the registries. A new row is one line: `test/field/install` installs
 * it, and the tests beside this file run it.
 */

export type Language = 'javascript' | 'python'

/** A release of an SDK, and the month in which it was the newest. */
export type ClientRow = readonly [language: Language, name: string, version: string, month: string]

/** A release a month, if there was one. */
export const CLIENTS: readonly ClientRow[] = [
  ['javascript', 'langsmith', '0.3.33', '2025-06'],
  ['javascript', 'langsmith', '0.3.66', '2025-08'],
  ['javascript', 'langsmith', '0.3.71', '2025-09'],
  ['javascript', 'langsmith', '0.3.76', '2025-10'],
  ['javascript', 'langsmith', '0.3.82', '2025-11'],
  ['javascript', 'langsmith', '0.4.4', '2025-12'],
  ['javascript', 'langsmith', '0.4.7', '2026-01'],
  ['javascript', 'langsmith', '0.4.12', '2026-02'],
  ['javascript', 'langsmith', '0.5.15', '2026-03'],
  ['javascript', 'langsmith', '0.5.26', '2026-04'],
  ['javascript', 'langsmith', '0.7.3', '2026-05'],
  ['javascript', 'langsmith', '0.7.14', '2026-06'],
  ['javascript', 'langsmith', '0.8.9', '2026-07'],
  ['javascript', 'langsmith', '0.9.0', '2026-08'],
  ['javascript', 'langsmith', '0.10.5', '2026-09'],
  ['javascript', 'langsmith', '0.11.6', '2026-10'],
  ['javascript', 'langsmith', '0.12.0', '2026-11'],
  ['javascript', '@langchain/langgraph-sdk', '0.0.84', '2025-06'],
  ['javascript', '@langchain/langgraph-sdk', '0.0.95', '2025-09'],
  ['javascript', '@langchain/langgraph-sdk', '1.0.0', '2025-10'],
  ['javascript', '@langchain/langgraph-sdk', '1.3.1', '2025-12'],
  ['javascript', '@langchain/langgraph-sdk', '1.5.4', '2026-01'],
  ['javascript', '@langchain/langgraph-sdk', '1.8.10', '2026-04'],
  ['javascript', '@langchain/langgraph-sdk', '1.9.10', '2026-05'],
  ['javascript', '@langchain/langgraph-sdk', '1.9.25', '2026-06'],
  ['javascript', '@langchain/langgraph-sdk', '1.9.28', '2026-07'],
  ['javascript', '@langchain/langgraph-sdk', '1.10.0', '2026-08'],
  ['javascript', '@langchain/langgraph-sdk', '1.12.0', '2026-09'],
  ['javascript', '@langchain/langgraph-sdk', '1.12.9', '2026-10'],
  ['javascript', '@langchain/langgraph-sdk', '1.15.0', '2026-11'],
  ['python', 'langsmith', '0.4.4', '2025-06'],
  ['python', 'langsmith', '0.4.9', '2025-07'],
  ['python', 'langsmith', '0.4.21', '2025-08'],
  ['python', 'langsmith', '0.4.31', '2025-09'],
  ['python', 'langsmith', '0.4.38', '2025-10'],
  ['python', 'langsmith', '0.4.49', '2025-11'],
  ['python', 'langsmith', '0.5.2', '2025-12'],
  ['python', 'langsmith', '0.6.7', '2026-01'],
  ['python', 'langsmith', '0.7.9', '2026-02'],
  ['python', 'langsmith', '0.7.23', '2026-03'],
  ['python', 'langsmith', '0.8.0', '2026-04'],
  ['python', 'langsmith', '0.8.8', '2026-05'],
  ['python', 'langsmith', '0.9.4', '2026-06'],
  ['python', 'langsmith', '0.10.15', '2026-07'],
  ['python', 'langsmith', '0.11.2', '2026-08'],
  ['python', 'langsmith', '0.14.2', '2026-09'],
  ['python', 'langsmith', '0.14.16', '2026-10'],
  ['python', 'langsmith', '0.15.1', '2026-11'],
  ['python', 'langgraph-sdk', '0.1.72', '2025-06'],
  ['python', 'langgraph-sdk', '0.2.0', '2025-07'],
  ['python', 'langgraph-sdk', '0.2.4', '2025-08'],
  ['python', 'langgraph-sdk', '0.2.9', '2025-09'],
  ['python', 'langgraph-sdk', '0.2.10', '2025-11'],
  ['python', 'langgraph-sdk', '0.3.1', '2025-12'],
  ['python', 'langgraph-sdk', '0.3.3', '2026-01'],
  ['python', 'langgraph-sdk', '0.3.9', '2026-02'],
  ['python', 'langgraph-sdk', '0.3.12', '2026-03'],
  ['python', 'langgraph-sdk', '0.3.13', '2026-04'],
  ['python', 'langgraph-sdk', '0.4.0', '2026-05'],
  ['python', 'langgraph-sdk', '0.4.2', '2026-06'],
  ['python', 'langgraph-sdk', '0.4.4', '2026-08'],
  ['python', 'langgraph-sdk', '0.4.5', '2026-09'],
  ['python', 'langgraph-sdk', '0.4.11', '2026-10'],
  ['python', 'langgraph-sdk', '0.4.14', '2026-11'],
]

/** A release of a framework. `graph` is an export of test/field/projects/graphs.ts or graphs.py. */
export type FrameworkRow = readonly [language: Language, name: string, version: string, graph: string]

export const FRAMEWORKS: readonly FrameworkRow[] = [
  ['javascript', 'langchain', '1.5.14', 'create_agent'],
  ['javascript', 'langchain', '1.5.14', 'create_agent_factory'],
  ['javascript', 'deepagents', '1.14.1', 'deep_agent'],
  ['javascript', '@langchain/langgraph-supervisor', '1.1.3', 'supervisor'],
  ['javascript', '@langchain/langgraph-swarm', '1.0.4', 'swarm'],
  ['javascript', '@langchain/langgraph', '1.7.3', 'functional'],
  ['javascript', '@langchain/core', '1.4.0', 'lcel'],
  ['python', 'langchain', '1.5.2', 'create_agent'],
  ['python', 'langchain', '1.5.2', 'create_agent_factory'],
  ['python', 'deepagents', '0.7.32', 'deep_agent'],
  ['python', 'langgraph-supervisor', '0.0.31', 'supervisor'],
  ['python', 'langgraph-swarm', '0.1.0', 'swarm'],
  ['python', 'langgraph', '1.2.24', 'functional'],
  ['python', 'langchain-core', '1.8.3', 'lcel'],
]
