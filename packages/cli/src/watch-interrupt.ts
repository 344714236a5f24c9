import type { Call } from "./context.ts";
import type { Io } from "./io.ts";
import type { Output } from "./output.ts";

/** Thrown if the user, or the system, ended the program. */
export class Interrupted extends Error {}

/** Runs the work with a signal that Ctrl-C aborts. */
export async function watchInterrupt<T>(
	io: Pick<Io, "onInterrupt">,
	work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
	const controller = new AbortController();
	const stop = io.onInterrupt(() => controller.abort(new Interrupted("interrupted")));
	try {
		return await work(controller.signal);
	} finally {
		stop();
	}
}

/** Runs a command that signs nothing. It is either finished or reported as interrupted, never both. */
export async function answerUnlessInterrupted<T>(
	call: Call,
	command: (call: Call) => Promise<T>,
): Promise<T> {
	const { output, signal } = call;
	let isAnswering = false;
	const result: Output["result"] = async (...answer) => {
		signal.throwIfAborted();
		isAnswering = true;
		await output.result(...answer);
	};
	const work = command({ ...call, output: { ...output, result } });
	try {
		return await unlessInterrupted(signal, work);
	} catch (error) {
		if (isAnswering) return work;
		throw error;
	}
}

/** Waits for work that takes no signal and signs nothing. If interrupted, the work is abandoned. */
export async function unlessInterrupted<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
	let stop = () => {};
	const interrupted = new Promise<never>((_, reject) => {
		stop = () => reject(signal.reason);
		signal.addEventListener("abort", stop);
		if (signal.aborted) stop();
	});
	try {
		return await Promise.race([work, interrupted]);
	} finally {
		signal.removeEventListener("abort", stop);
	}
}
