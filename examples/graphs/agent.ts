import { AIMessage, ToolMessage } from '@langchain/core/messages'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'
import { createChatModel } from './chat-model.ts'

// A chat agent with one tool. Without a key it runs offline, with a model that invents its words. To use a real one,
// put OPENAI_API_KEY or ANTHROPIC_API_KEY (and MODEL, if you like) under "env" of langgraph.json: as a map, as the path
// of a .env file, or as ["OPENAI_API_KEY"], which takes it from the server's environment.

type State = typeof MessagesAnnotation.State

const model = createChatModel(process.env)

async function callModel({ messages }: State) {
  return { messages: [await model.invoke(messages)] }
}

function callTools({ messages }: State) {
  const last = messages.at(-1)
  const calls = AIMessage.isInstance(last) ? (last.tool_calls ?? []) : []
  return {
    messages: calls.map(
      (call) =>
        new ToolMessage({ tool_call_id: call.id ?? '', name: call.name, content: new Date().toISOString() }),
    ),
  }
}

function hasToolCalls({ messages }: State): 'tools' | typeof END {
  const last = messages.at(-1)
  return AIMessage.isInstance(last) && (last.tool_calls?.length ?? 0) > 0 ? 'tools' : END
}

export const graph = new StateGraph(MessagesAnnotation)
  .addNode('model', callModel)
  .addNode('tools', callTools)
  .addEdge(START, 'model')
  .addConditionalEdges('model', hasToolCalls, ['tools', END])
  .addEdge('tools', 'model')
  .compile({ name: 'agent' })
