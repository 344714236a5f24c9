import type { Command } from "commander";

/** Defines the remote signer's process and its command. */
export function defineSignerCommands(
	program: Command,
	{ run }: { /** Starts the process. */ run: (configPath: string) => Promise<void> },
): void {
	const signer = program
		.command("signer")
		.description("hold keys for other processes, and sign only what its own policy allows")
		.option("--config <file>", "the signer's own configuration file", "signer.json")
		.action(({ config }) => run(config));
	const collect = (value: string, before: string[] = []) => [...before, value];
	signer
		.command("make-certificates")
		.description(
			"make certificates for the remote signer and its clients, and their authority if there is none",
		)
		.requiredOption("--out <folder>", "the folder of the authority, where the files are put")
		.option("--server <host>", "a host name or address of the signer; may be repeated", collect)
		.option("--client <name>", "the name of a process that uses the signer; may be repeated", collect)
		.option("--days <count>", "days for which the certificates are valid", "90")
		.option("--json", "print the files as JSON")
		.action(async (options) => {
			const { makeCertificatesCommand } = await import("./make-certificates-command.ts");
			await makeCertificatesCommand(options);
		});
	signer
		.command("revoke")
		.description("put a client's certificate on the authority's list, crl.pem, for tls.crlFile of the signer")
		.requiredOption("--out <folder>", "the folder of the authority, where the list is")
		.requiredOption("--certificate <file>", "the certificate to revoke")
		.option("--json", "print the list's file as JSON")
		.action(async ({ out, certificate, json }) => {
			const { revokeCertificate } = await import("./revoke-certificate.ts");
			const result = await revokeCertificate({ folder: out, certificateFile: certificate });
			const next = "Put it where tls.crlFile of the signer is. The signer reads it within seconds.";
			console.log(json ? JSON.stringify(result) : `${result.crlFile} has it. ${next}`);
		});
}
