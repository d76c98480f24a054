import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { PYTHON, withoutPython } from '../../../support/python.ts'

const HOSTS = fileURLToPath(new URL('../../../../hosts/python', import.meta.url))
const WITHOUT = withoutPython()

/**
 * A program that passes several frames to the Python host at once, as if one read had returned them all. The run does
 * not end before it is cancelled.
 */
const SCRIPT = `
import asyncio, sys
sys.path.insert(0, sys.argv[1])
from weir_host import host
from weir_host.runs.execute import End

class Execution:
    def __init__(self, *_):
        self._cancelled = asyncio.Event()
    def cancel(self, needs_state):
        self._cancelled.set()
    async def execute(self):
        await self._cancelled.wait()
        return End({"type": "end"}, [])

class Channel:
    def __init__(self):
        self.ended = asyncio.Event()
    def send(self, head, parts=()):
        if head["type"] == "end":
            self.ended.set()
    async def frames(self):
        for type in ("offer", "go", "cancel"):
            yield {"type": type, "id": 1}, [b"{}"]

async def main():
    host.Execution = Execution
    channel = Channel()
    tested = host.Host(channel)
    tested._deps = object()
    await tested.listen()
    await asyncio.wait_for(channel.ended.wait(), 10)
    print("ended")

asyncio.run(main())
`

describe.skipIf(WITHOUT !== '')(`the Python host${WITHOUT}`, () => {
  it('cancels a run whose cancel arrives together with its beginning', async () => {
    const { stdout } = await promisify(execFile)(PYTHON, ['-c', SCRIPT, HOSTS])
    expect(stdout.trim()).toBe('ended')
  })
})
