-- When counting of traces was switched on and off: epoch milliseconds by the clock of the process that did.
CREATE TABLE usage_switches (
  at BIGINT PRIMARY KEY,
  is_on INTEGER NOT NULL
);
