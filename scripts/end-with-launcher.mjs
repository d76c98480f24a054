import * as nodeModule from 'node:module'

// Loaded into the process that scripts/launch.mjs starts: a launcher that is killed takes it along. Without
// this, kill -9 on the launcher would leave a server behind that holds the port and the data directory.
if (process.channel !== undefined) {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.channel.unref()
}

nodeModule.enableCompileCache?.() // a third of the start-up time of sources is compiling them
