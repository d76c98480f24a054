import { spawn } from 'node:child_process'

/** Runs the server from source, and restarts it when a source file changes. Arguments are passed to `weir serve`. */
const child = spawn(process.execPath, ['--watch', 'src/main.ts', 'serve', ...process.argv.slice(2)], {
  stdio: 'inherit',
})
process.on('SIGTERM', () => child.kill('SIGTERM'))
child.on('exit', (code) => process.exit(code ?? 1))
