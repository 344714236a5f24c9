import type { Keychain, KeyName } from "./keychain.ts";
import type { Output } from "./output.ts";
import { keyVariables, parseApiKey, parseEvmKey, parseSolanaKey } from "./read-keys.ts";

const questions = [
	["api-key", "API key of the service", parseApiKey],
	["evm-key", "Private key of your EVM wallet, hex", parseEvmKey],
	["solana-key", "Key of your Solana wallet, base58 or JSON array", parseSolanaKey],
] as const satisfies [KeyName, string, (text: string) => unknown][];

/** Asks the user for the keys that the environment does not have. An empty answer keeps the keychain's key. */
export async function askKeys({
	env,
	keychain,
	ask,
	say,
}: {
	env: Record<string, string | undefined>;
	keychain: Keychain;
	ask: (question: string) => Promise<string>;
	say: Output["say"];
}): Promise<KeyName[]> {
	const stored: KeyName[] = [];
	for (const [name, question, parse] of questions) {
		if (env[keyVariables[name]]?.trim()) continue;
		const isThere = (await keychain.get(name)) !== undefined;
		const secret = (await ask(`${question} (Enter: ${isThere ? "keep the stored one" : "not now"})`)).trim();
		if (secret === "") continue;
		await parse(secret);
		await keychain.set(name, secret);
		say(["stored", `${name}, in the keychain`]);
		stored.push(name);
	}
	return stored;
}
