import type { ReadRun } from '../../../data/runs.ts'
import { Button, CopyButton } from '../../../parts/controls.tsx'
import { exactText } from '../../../parts/json/json-text.ts'
import { saveFile } from '../../../parts/save-file.ts'

const KEY = '$LANGSMITH_API_KEY'

/** Programs that read a run from this server, and one that checks it. */
function readers(id: string, origin: string): readonly (readonly [name: string, text: string])[] {
  const read = `curl -sS -H "x-api-key: ${KEY}" ${origin}/api/v1/runs/${id}`
  return [
    ['Copy as curl', read],
    [
      'Copy as Python',
      `import os\nfrom langsmith import Client\n\nclient = Client(api_url="${origin}", api_key=os.environ["LANGSMITH_API_KEY"])\nrun = client.read_run("${id}")\nprint(run.inputs, run.outputs)`,
    ],
    [
      'Copy as TypeScript',
      `import { Client } from 'langsmith'\n\nconst client = new Client({ apiUrl: '${origin}', apiKey: process.env.LANGSMITH_API_KEY })\nconst run = await client.readRun('${id}')\nconsole.log(run.inputs, run.outputs)`,
    ],
    ['Copy as weir validate', `${read} | npx weir validate -`],
  ]
}

/** Programs and files of a run. Readers of a share have no key, so they can only copy the run itself. */
export function CopyItems({ run, isShared, close }: { run: ReadRun; isShared: boolean; close(): void }) {
  return (
    <>
      {!isShared &&
        readers(run.id, location.origin).map(([name, text]) => (
          <CopyButton key={name} text={text} label={name} />
        ))}
      <CopyButton text={() => exactText(run)} label="Copy as JSON" />
      <Button
        look="plain"
        icon="down"
        onClick={() => {
          saveFile(`${run.id}.json`, new Blob([exactText(run)], { type: 'application/json' }))
          close()
        }}
      >
        Save as a file
      </Button>
    </>
  )
}
