import { type Command, CommanderError } from "commander";
import { ConfigError } from "../config/config-error.ts";

/**
 * Runs what the arguments ask for, of a program that throws instead of exiting, and says what went wrong. Returns the code
 * to exit with; undefined where the command is done, or goes on, and has set its own if it has one.
 */
export async function runProgram(program: Command, args: readonly string[]): Promise<number | undefined> {
	try {
		await program.parseAsync(args, { from: "user" });
		return undefined;
	} catch (error) {
		// It has said what is wrong by itself, or that nothing is.
		if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
		// What a person can mend is a sentence; anything else is a bug, and its stack is wanted.
		if (error instanceof ConfigError) {
			console.error(`error: ${error.message}`);
			return 2;
		}
		const { describeError } = await import("../telemetry/log.ts");
		console.error("error:", describeError(error));
		return 1;
	}
}
