import { CliError } from "./cli-error.ts";

/** Patterns of secrets. Arguments are in the shell's history and in the process list, where others read them. */
const secrets = [
	// 32 bytes of hex. A file's hash has a prefix, and is allowed.
	/(?<![0-9a-z]|sha256:)(0x)?[0-9a-f]{64}(?![0-9a-z])/i,
	// 64 bytes of base58. 32 bytes are allowed, because an address has the same length as a private key.
	/(?<![0-9a-z])[1-9a-hj-np-z]{86,88}(?![0-9a-z])/i,
	/(\d{1,3}\s*,\s*){31}\d{1,3}/,
	/geosk_[0-9a-z]/i,
	// A wallet's mnemonic.
	/(^|[\s=])([a-z]{3,8}\s+){11}[a-z]{3,8}($|\s)/,
];

/** Throws if an argument looks like a private key, a mnemonic or an API key, without showing it again. */
export function refuseKeys(args: readonly string[]): void {
	// A list that was not quoted is split into many arguments.
	const text = args.map(withoutEndpointKey).join(" ");
	if (!secrets.some((pattern) => pattern.test(text))) return;
	throw new CliError(
		"An argument looks like a private key or an API key, and was not read. Keys come from the keychain (geoswap init) or the environment. If it was a key, others may have seen it, so replace it.",
		{ code: "KEY_IN_ARGUMENTS", section: "keys" },
	);
}

/** Removes the provider's key that many endpoints have in their address, because that key belongs there. */
function withoutEndpointKey(arg: string): string {
	return arg.replace(
		/^((?:--rpc=)?[^-=\s][^=\s]*=https?:\/\/)(\S*)$/i,
		(_, start: string, rest: string) => start + rest.replace(/[0-9a-f]{64}/gi, ""),
	);
}
