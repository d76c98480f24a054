#!/usr/bin/env node
// The `weir` command: runs the built program if there is one, otherwise the sources of this clone.
import { existsSync } from 'node:fs'
import { launch } from '../scripts/launch.mjs'

const fromSource = existsSync(new URL('../src/main.ts', import.meta.url))
await launch(fromSource ? 'src/main.ts' : 'dist/src/main.js', process.argv.slice(2), { install: fromSource })
