// Loaded into the process that scripts/launch.mjs starts; ends the process when the launcher is killed. Otherwise, kill
// -9 on the launcher would leave a server that uses the port and the data directory.
if (process.channel !== undefined) {
  process.once('disconnect', () => process.kill(process.pid, 'SIGTERM'))
  process.channel.unref()
}
