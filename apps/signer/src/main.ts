#!/usr/bin/env node
import { ConfigError } from "@geoswap/keys/config/config-error";
import { Command, CommanderError } from "commander";
import { describeError } from "./telemetry/log.ts";

const program = new Command("geoswap-signer")
	.description(
		"The remote signer of Geoswap: holds keys for other processes, and signs only what its own policy allows.",
	)
	.showHelpAfterError("(see --help)")
	.addHelpText(
		"after",
		`
Exit codes: 0 done, 1 failed, 2 wrong input: an option, the configuration, an environment variable.
check: 1 if something failed, 2 if the file itself is wrong. health: 1 if the signer is not healthy.`,
	)
	.exitOverride();

const withConfig = (name: string, description: string, options: { isDefault?: boolean } = {}) =>
	program
		.command(name, options)
		.description(description)
		.option("--config <file>", "the signer's file", process.env.GEOSWAP_SIGNER_CONFIG ?? "signer.json");

withConfig("start", "serve clients; the default command", { isDefault: true }).action(async ({ config }) => {
	const { runSigner } = await import("./run-signer.ts");
	await runSigner(config);
});
withConfig("check", "check the file, certificates, state, keys and nodes")
	.option("--offline", "make no network calls")
	.option("--json", "print an array of { part, result, message }")
	.action(async (options) => {
		const { checkCommand } = await import("./command/check-command.ts");
		// Exits explicitly, because calls that timed out may still be pending.
		process.exit(await checkCommand(options));
	});
withConfig("health", "query the metrics of the signer on this machine")
	.option("--json", "print { url, healthy, problem }")
	.action(async (options) => {
		const { healthCommand } = await import("./command/health-command.ts");
		process.exitCode = await healthCommand(options);
	});

const collect = (value: string, before: string[] = []) => [...before, value];
program
	.command("make-certificates")
	.description("make certificates for the signer and its clients, and their authority if there is none")
	.requiredOption("--out <folder>", "the folder of the authority, where the files are put")
	.option("--server <host>", "a host name or address of the signer; may be repeated", collect)
	.option("--client <name>", "the name of a process that uses the signer; may be repeated", collect)
	.option("--days <count>", "days for which the certificates are valid", "90")
	.option("--json", "print the files as JSON")
	.action(async (options) => {
		const { makeCertificatesCommand } = await import("./certificates/make-certificates-command.ts");
		await makeCertificatesCommand(options);
	});
program
	.command("revoke")
	.description("put a client's certificate on the authority's list, crl.pem, for tls.crlFile of the signer")
	.requiredOption("--out <folder>", "the folder of the authority, where the list is")
	.requiredOption("--certificate <file>", "the certificate to revoke")
	.option("--json", "print the list's file as JSON")
	.action(async ({ out, certificate, json }) => {
		const { revokeCertificate } = await import("./certificates/revoke-certificate.ts");
		const result = await revokeCertificate({ folder: out, certificateFile: certificate });
		const next = "Put it where tls.crlFile of the signer is. The signer reads it within seconds.";
		console.log(json ? JSON.stringify(result) : `${result.crlFile} has it. ${next}`);
	});

try {
	await program.parseAsync();
} catch (error) {
	process.exit(report(error));
}

/** Prints an error, and returns the exit code. */
function report(error: unknown): number {
	// Commander has already printed the problem, if there is one.
	if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2;
	// An error that an operator can fix is one sentence. Anything else is a bug, and its stack is printed.
	if (error instanceof ConfigError) {
		console.error(`error: ${error.message}`);
		return 2;
	}
	console.error("error:", describeError(error));
	return 1;
}
