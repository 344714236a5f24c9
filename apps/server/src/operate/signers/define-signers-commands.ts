import { type Command, Option } from "commander";

const json = ["--json", "print the result as JSON"] as const;

export function defineSignersCommands(program: Command): void {
	const signers = program
		.command("signers")
		.description("the keys that the service signs with, and where they are");
	signers
		.command("check")
		.description(
			"sign a harmless message with every configured key; prints address, place and time; exits 1 if one fails",
		)
		.option("--config <file>", "the configuration file", process.env.GEOSWAP_CONFIG ?? "geoswap.json")
		.addOption(
			new Option("--for <process>", "whose keys; an attester has a separate file")
				.choices(["api", "worker", "attester"])
				.default("worker"),
		)
		.option("--times <count>", "signatures with each key; the time is their median", "1")
		.option(...json)
		.action(async (options) => {
			const { signersCheckCommand } = await import("./signers-check-command.ts");
			process.exitCode = await signersCheckCommand(options);
		});
	signers
		.command("make-keystore")
		.description("put a key into a new encrypted file, and print its address; the key itself is never shown")
		.requiredOption("--out <file>", "the file to write, which must not exist")
		.requiredOption("--password-file <file>", "file with the password; at least 12 characters")
		.addOption(
			new Option("--curve <curve>", "secp256k1 for EVM chains, ed25519 for Solana")
				.choices(["secp256k1", "ed25519"])
				.default("secp256k1"),
		)
		.option(
			"--import <file>",
			"file with the key: hex for secp256k1, base58 for ed25519; - reads it from standard input. Without it a new key is made",
		)
		.option(...json)
		.action(async (options) => {
			const { makeKeystoreCommand } = await import("./make-keystore-command.ts");
			await makeKeystoreCommand(options);
		});
}
