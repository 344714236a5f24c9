/** A destination of text, which is a stream of the process, or a collector in a test. */
export type Sink = {
	write: (text: string) => Promise<void>;
	isTerminal: boolean;
	/** Undefined if lines may be of any length. */
	columns: () => number | undefined;
};

/** Everything that the program uses of its environment, except for network and files. */
export type Io = {
	env: Record<string, string | undefined>;
	stdout: Sink;
	stderr: Sink;
	/** True if a user can be asked. */
	isInteractive: boolean;
	/** Listens for Ctrl-C and for the system's requests to end. Returns a function that stops listening. */
	onInterrupt: (listener: () => void) => () => void;
	/** Opens a web address in the user's browser. Resolves to false if that is not possible. */
	openUrl: (url: string) => Promise<boolean>;
};

const signals = ["SIGINT", "SIGTERM", "SIGHUP"] as const;

export function processIo(): Io {
	const { env, platform, stdin, stdout, stderr } = process;
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
		openUrl: async (url) => (await import("./open-in-browser.ts")).openInBrowser(url, { platform, env }),
	};
}

function sinkOf(stream: NodeJS.WriteStream): Sink {
	// The reader may be gone, as with `head`. A swap does not depend on a reader.
	stream.on("error", () => {});
	return {
		// The process exits as soon as it is done, and text that a pipe has not accepted by then would be lost.
		write: (text) => new Promise((resolve) => stream.write(text, () => resolve())),
		isTerminal: stream.isTTY === true,
		columns: () => (stream.isTTY ? stream.columns || 80 : undefined),
	};
}
