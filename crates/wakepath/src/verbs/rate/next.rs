//! What to type next if a search found no rate.

use super::Answer;
use wakepath_archive::shell_word;

/// What to type if not even the lowest rate was kept: the same loop, on the same CPU.
pub(super) fn next(answer: &Answer, hz: u32, cpu: Option<u16>) -> String {
    let cpu = cpu.map_or_else(String::new, |cpu| format!(" --cpu {cpu}"));
    let policy = answer.policy.as_deref().map(shell_word);
    let policy = policy.map_or_else(String::new, |policy| format!(" --policy {policy}"));
    let (doctor, traced) = match &answer.scenario {
        None => (
            format!("wakepath doctor --rate {hz}Hz{cpu}"),
            format!("wakepath check --rate {hz}Hz{policy}{cpu} --trace"),
        ),
        Some(scenario) => {
            let scenario = shell_word(scenario);
            (
                format!("wakepath doctor --scenario {scenario}"),
                format!("wakepath run {scenario} --trace"),
            )
        }
    };
    format!(
        "\nnext\n  {doctor}\n      what on this machine makes cycles late, with fixes\n  {traced}\n      \
         records kernel events; then wakepath explain says why\n"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_commands_are_about_the_loop_that_was_measured() {
        let mut answer = Answer {
            scenario: None,
            task: None,
            policy: Some("FIFO 80".into()),
            criterion: String::new(),
            kept_hz: None,
            not_kept_hz: Some(1000),
            steps: Vec::new(),
            directory: String::new(),
        };
        let text = next(&answer, 1000, Some(0));
        for command in [
            "  wakepath doctor --rate 1000Hz --cpu 0\n",
            "  wakepath check --rate 1000Hz --policy 'FIFO 80' --cpu 0 --trace\n",
        ] {
            assert!(text.contains(command), "{text}");
        }
        answer.scenario = Some("my loop.toml".into());
        let text = next(&answer, 1000, None);
        assert!(
            text.contains("wakepath run 'my loop.toml' --trace"),
            "{text}"
        );
    }
}
