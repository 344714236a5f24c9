/** Where text goes: a stream of the process, or what a test collects. */
export type Sink = {
	write: (text: string) => Promise<void>;
	isTerminal: boolean;
	/** Undefined where lines may be of any length. */
	columns: () => number | undefined;
};

/** All that the program has of the world around it, but for network and files. */
export type Io = {
	env: Record<string, string | undefined>;
	stdout: Sink;
	stderr: Sink;
	/** Whether there is a person who can be asked. */
	isInteractive: boolean;
	/** Ctrl-C, or an end that the system asks for. Gives back what stops the listening. */
	onInterrupt: (listener: () => void) => () => void;
};

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export function processIo(): Io {
	const { env, stdin, stdout, stderr } = process;
	return {
		env,
		stdout: sinkOf(stdout),
		stderr: sinkOf(stderr),
		isInteractive: stdin.isTTY === true && stderr.isTTY === true,
		onInterrupt: (listener) => {
			for (const signal of signals) process.on(signal, listener);
			return () => {
				for (const signal of signals) process.off(signal, listener);
			};
		},
	};
}

function sinkOf(stream: NodeJS.WriteStream): Sink {
	// Whoever reads may have gone, as `head` does. What happens to the swap does not depend on a reader.
	stream.on("error", () => {});
	return {
		// The process exits as soon as it is done: what a pipe has not taken by then would be lost.
		write: (text) => new Promise((resolve) => stream.write(text, () => resolve())),
		isTerminal: stream.isTTY === true,
		columns: () => (stream.isTTY ? stream.columns || 80 : undefined),
	};
}
