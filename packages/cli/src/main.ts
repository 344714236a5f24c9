#!/usr/bin/env node
import { processIo } from "./io.ts";
import { run } from "./run.ts";

// What is still open, such as a connection that is kept alive, is nobody's reason to wait.
process.exit(await run(process.argv.slice(2), processIo()));
