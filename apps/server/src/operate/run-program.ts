import { type Command, CommanderError } from "commander";
import { ConfigError } from "../config/config-error.ts";

/**
 * Runs the command given by the arguments, and prints errors. The program must throw instead of exiting. Returns the
 * exit code, or undefined if the command is done, or still runs, and has set its own code if it has one.
 */
export async function runProgram(program: Command, args: readonly string[]): Promise<number | undefined> {
	try {
		await program.parseAsync(args, { from: "user" });
		return undefined;
	} catch (error) {
		// Commander has already printed the problem, if there is one.
		if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
		// An error that an operator can fix is one sentence. Anything else is a bug, and its stack is printed.
		if (error instanceof ConfigError) {
			console.error(`error: ${error.message}`);
			return 2;
		}
		const { describeError } = await import("../telemetry/log.ts");
		console.error("error:", describeError(error));
		return 1;
	}
}
