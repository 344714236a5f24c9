import type { Command } from "commander";

type Shell = "bash" | "zsh" | "fish";

type Word = { name: string; description: string };
/** `wordsOf`: what may follow each command. After a subcommand, its options follow, as if they were the group's. */
type Words = { commands: Word[]; options: Word[]; wordsOf: Map<string, Word[]> };

/** Returns the script that completes the program's commands and options in a shell. */
export function completionScript(program: Command, shell: Shell): string {
	const options = (command: Command): Word[] => [
		...command.options.map(({ long, description }) => ({ name: long ?? "", description })),
		{ name: "--help", description: "display help for command" },
	];
	const commands = (command: Command): Word[] =>
		command.commands.map((one) => ({ name: one.name(), description: one.description() }));
	const words: Words = {
		commands: commands(program),
		options: options(program),
		wordsOf: new Map(
			program.commands.map((command) => [command.name(), [...commands(command), ...options(command)]]),
		),
	};
	return scripts[shell](words);
}

const names = (words: Word[]) => words.map(({ name }) => name).join(" ");
const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;

const scripts: Record<Shell, (words: Words) => string> = {
	bash: ({ commands, options, wordsOf }) => `# Put this into ~/.bashrc: eval "$(geoswap completion bash)"
_geoswap() {
	local words="${names([...commands, ...options])}"
	if [ "$COMP_CWORD" -gt 1 ]; then
		case "\${COMP_WORDS[1]}" in
${[...wordsOf].map(([name, own]) => `			${name}) words="${names(own)}" ;;`).join("\n")}
		esac
	fi
	COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _geoswap geoswap
`,
	zsh: ({ commands, options, wordsOf }) => `#compdef geoswap
# Put this into ~/.zshrc, after compinit: eval "$(geoswap completion zsh)"
_geoswap() {
	local command=$words[2]
	local -a choices
	if (( CURRENT == 2 )); then
		choices=(${described([...commands, ...options])})
	else
		case $command in
${[...wordsOf].map(([name, own]) => `			${name}) choices=(${described(own)}) ;;`).join("\n")}
		esac
	fi
	_describe geoswap choices || _files
}
compdef _geoswap geoswap
`,
	fish: ({ commands, options, wordsOf }) =>
		[
			"# Put this into ~/.config/fish/config.fish: geoswap completion fish | source",
			...[...commands, ...options].map((word) => fishWord("__fish_use_subcommand", word)),
			...[...wordsOf].flatMap(([name, own]) =>
				own.map((word) => fishWord(`'__fish_seen_subcommand_from ${name}'`, word)),
			),
			"",
		].join("\n"),
};

function fishWord(condition: string, { name, description }: Word): string {
	const word = name.startsWith("--") ? `-l ${name.slice(2)}` : `-f -a ${name}`;
	return `complete -c geoswap -n ${condition} ${word} -d ${quoted(description)}`;
}

/** Returns the words as zsh's `_describe` takes them. */
function described(words: Word[]): string {
	return words
		.map(({ name, description }) => quoted(`${name.replaceAll(":", "\\:")}:${description}`))
		.join(" ");
}
