// Loaded into the process that scripts/launch.mjs starts, so that it ends when the launcher is killed. Without this,
// kill -9 on the launcher would leave a server that keeps the port and the data directory.
if (process.channel !== undefined) {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.channel.unref()
}
