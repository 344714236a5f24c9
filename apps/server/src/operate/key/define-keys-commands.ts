import type { Command } from "commander";

const actor = ["--actor <name>", "who changes it, for the history; otherwise this machine's user"] as const;
const json = ["--json", "print the result as JSON"] as const;
const id = ["<id>", "the key's id, the part between the underscores"] as const;
const rate = "requests per second instead of the configured ones: quote=100";
const held = "status calls that may wait at once, instead of the configured number";

export function defineAccountsCommands(program: Command): void {
	const accounts = program.command("accounts").description("who keys belong to");
	accounts
		.command("create")
		.description("make an account; its keys share its swaps")
		.argument("<name>", "its name, at most 64 printable characters")
		.option(...actor)
		.option(...json)
		.action(async (name, options) => {
			const { createAccountCommand } = await import("./accounts-create-command.ts");
			await createAccountCommand({ name, ...options });
		});
	accounts
		.command("list")
		.description("all accounts, and how many valid keys each has")
		.option(...json)
		.action(async (options) => {
			const { listAccountsCommand } = await import("./accounts-list-command.ts");
			await listAccountsCommand(options);
		});
}

export function defineKeysCommands(program: Command): void {
	const keys = program.command("keys").description("API keys of accounts");
	keys
		.command("create")
		.description("make a key; it is shown once")
		.requiredOption("--account <name>", "the account's name; made where there is none")
		.option("--rate <operation=number...>", rate)
		.option("--held <number>", held)
		.option("--expires <when>", "after which time, 90d, or when, 2027-01-31; otherwise never")
		.option("--count <number>", "make several with the same limits; as JSON they are an array")
		.option(...actor)
		.option(...json)
		.action(async (options) => {
			const { createKeyCommand } = await import("./keys-create-command.ts");
			await createKeyCommand(options);
		});
	keys
		.command("list")
		.description("keys without their secrets: state, last use, expiry")
		.option("--account <name>", "of this account only")
		.option(...json)
		.action(async (options) => {
			const { listKeysCommand } = await import("./keys-list-command.ts");
			await listKeysCommand(options);
		});
	keys
		.command("rotate")
		.description("make a key in the place of another, which goes on for a while; the new one is shown once")
		.argument(...id)
		.option("--overlap <duration>", "how long the old key goes on: 0s, 30m, 24h, 7d", "24h")
		.option("--expires <when>", "of the new key: 90d, 2027-01-31 or never; needed where the old one expires")
		.option(...actor)
		.option(...json)
		.action(async (id, options) => {
			const { rotateKeyCommand } = await import("./keys-rotate-command.ts");
			await rotateKeyCommand({ id, ...options });
		});
	keys
		.command("revoke")
		.description("end a key for good; every API process sees it within two seconds")
		.argument(...id)
		.option(...actor)
		.option(...json)
		.action(async (id, options) => {
			const { revokeKeyCommand } = await import("./keys-revoke-command.ts");
			await revokeKeyCommand({ id, ...options });
		});
	keys
		.command("limits")
		.description("change limits of a key; those that are not named stay")
		.argument(...id)
		.option("--rate <operation=number...>", `${rate}; quote=default takes the configured one`)
		.option("--held <number>", `${held}; or default`)
		.option(...actor)
		.option(...json)
		.action(async (id, options) => {
			const { limitKeyCommand } = await import("./keys-limits-command.ts");
			await limitKeyCommand({ id, ...options });
		});
	keys
		.command("expire")
		.description("change when a key expires")
		.argument(...id)
		.option("--at <time>", "2027-01-31 or 2027-01-31T12:00:00Z")
		.option("--in <duration>", "24h, 90d")
		.option("--never", "it does not")
		.option(...actor)
		.option(...json)
		.action(async (id, options) => {
			const { expireKeyCommand } = await import("./keys-expire-command.ts");
			await expireKeyCommand({ id, ...options });
		});
	keys
		.command("history")
		.description("who changed which account or key, when, and how; changes by hand too")
		.option("--account <name>", "of this account and its keys only")
		.option("--key <id>", "of this key only")
		.option("--limit <number>", "only so many, the newest", "100")
		.option(...json)
		.action(async (options) => {
			const { keyHistoryCommand } = await import("./keys-history-command.ts");
			await keyHistoryCommand(options);
		});
	keys
		.command("scan")
		.description("look for keys in files, or in what comes from a pipe")
		.argument("[files...]", "where to look; - or none is standard input")
		.option(...json)
		.addHelpText(
			"after",
			`
By its checksum each finding is a key or none. With DATABASE_URL and GEOSWAP_API_KEY_PEPPER it is also said which are valid.
Exit codes: 0 none that could be used, 1 at least one, 2 wrong input, 3 could not be checked.`,
		)
		.action(async (files, options) => {
			const { scanKeysCommand } = await import("./keys-scan-command.ts");
			process.exitCode = await scanKeysCommand({ files, ...options });
		});
}
