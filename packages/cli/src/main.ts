#!/usr/bin/env node
import { processIo } from "./io.ts";
import { run } from "./run.ts";

// The program does not wait for anything that is still open, such as a keep-alive connection.
process.exit(await run(process.argv.slice(2), processIo()));
