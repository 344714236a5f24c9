import { confirm, isCancel, password, text } from "@clack/prompts";
import { CliError } from "./cli-error.ts";
import { exitCode } from "./exit-code.ts";
import { printable } from "./printable.ts";

// stdout is only for results.
const output = process.stderr;

export async function askText(message: string, placeholder: string): Promise<string> {
	const validate = (value: string | undefined) => (value ? undefined : "Please write something.");
	return answered<string>(await text({ message, placeholder, output, validate }));
}

/** Asks for a text that is not shown while it is typed. */
export async function askSecret(message: string): Promise<string> {
	return answered<string | undefined>(await password({ message, output })) ?? "";
}

export async function askConfirm(message: string): Promise<boolean> {
	return answered<boolean>(await askYesOrNo(message));
}

/** Returns true for a yes. Ctrl-C and an abort of the signal count as a no. */
export async function askAccept(message: string, signal: AbortSignal): Promise<boolean> {
	return (await askYesOrNo(message, signal)) === true;
}

function askYesOrNo(message: string, signal?: AbortSignal): Promise<boolean | symbol> {
	return confirm({
		message: printable(message),
		output,
		initialValue: false,
		...(signal && { signal }),
	});
}

function answered<T>(answer: T | symbol): T {
	if (!isCancel(answer)) return answer as T;
	throw new CliError("Cancelled. What was written before is kept.", {
		code: "INTERRUPTED",
		exit: exitCode.refused,
		next: "retry",
		retryable: true,
		section: "init",
	});
}
