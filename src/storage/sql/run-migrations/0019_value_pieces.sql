-- Pieces of large texts of a thread: values and writes of its checkpoints, the inputs of its runs, its values and its
-- events. The same piece is stored once. A large text is stored as `@`, its size in bytes (12 digits), and the hashes of
-- its pieces (22 characters each). The names of the key differ from those of other tables, so that a subquery can name
-- both.
CREATE TABLE value_pieces (
  of_thread TEXT NOT NULL,
  hash TEXT NOT NULL,
  of_deployment TEXT NOT NULL,
  of_workspace TEXT NOT NULL,
  piece TEXT NOT NULL,
  PRIMARY KEY (of_thread, hash, of_deployment, of_workspace)
);
