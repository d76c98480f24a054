import { AIMessage } from '@langchain/core/messages'
import { END, MessagesAnnotation, START, StateGraph } from '@langchain/langgraph'

/** Set in .env on your machine. `weir deploy` sends it as a secret of the deployment. */
const GREETING = process.env['GREETING'] ?? 'Hello'

/** Answers the last message with a greeting. It uses no model, so it runs without a key. */
export const graph = new StateGraph(MessagesAnnotation)
  .addNode('greet', ({ messages }) => {
    const name = String(messages.at(-1)?.content ?? 'you')
    console.log(`greeting ${name}`)
    return { messages: [new AIMessage(`${GREETING}, ${name}!`)] }
  })
  .addEdge(START, 'greet')
  .addEdge('greet', END)
  .compile()
