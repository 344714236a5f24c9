/**
 * Returns the same error without sensitive details, because the engine writes errors into its own log. viem's
 * messages contain the endpoint, whose address may contain a key, and the whole request, with what wallets signed.
 */
export function quietError(error: unknown): Error {
	if (!(error instanceof Error)) return new Error("something that is not an error was thrown");
	const { shortMessage = error.message } = error as { shortMessage?: string };
	const [firstLine = ""] = shortMessage.split("\n");
	const quiet = new Error(firstLine.replace(/\b[a-z]+:\/\/\S+/gi, "(an address)"));
	quiet.name = error.name;
	const places = error.stack?.split("\n").filter((line) => /^\s+at /.test(line)) ?? [];
	quiet.stack = [`${quiet.name}: ${quiet.message}`, ...places].join("\n");
	return quiet;
}
