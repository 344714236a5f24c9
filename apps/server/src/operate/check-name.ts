import { ConfigError } from "../config/config-error.ts";

const maxLength = 64;

/** Checks that people can read and type a name: of an account, or of the person who changes one. */
export function checkName(option: string, name: string): string {
	const isPrintable = /^[^\p{C}\p{Z}](?:[^\p{C}\p{Z}]| (?! ))*(?<! )$/u.test(name);
	if (!isPrintable || name.length > maxLength || name !== name.normalize("NFC")) {
		throw new ConfigError(
			option,
			`must be 1 to ${maxLength} printable characters, with spaces only between words and one at a time`,
		);
	}
	return name;
}
